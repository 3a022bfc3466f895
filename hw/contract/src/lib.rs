//! What the Ferronic NIC and its driver say to each other: registers, descriptors, completions, rings
