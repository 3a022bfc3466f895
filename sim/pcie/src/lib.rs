//! PCI Express at the transaction layer: TLPs, configuration space, root complex, link timing
