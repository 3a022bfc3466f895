//! The buffer pool.

use ferronic::Pool;

use crate::memory::Memory;

#[test]
fn gives_each_buffer_once_and_runs_empty_without_panic() {
    let memory = Memory::new();
    // More than one region of 2 MiB.
    let pool = Pool::new(&memory, 2500, 2000).unwrap();
    assert_eq!(memory.mapped(), 3);
    let mut buffers: Vec<_> = std::iter::from_fn(|| pool.get()).collect();
    assert_eq!(buffers.len(), 2500);
    assert!(pool.get().is_none());
    assert_eq!(pool.available(), 0);

    let mut places: Vec<_> = buffers.iter().map(|b| (b.bus(), b.number())).collect();
    places.sort_unstable();
    for pair in places.windows(2) {
        assert!(pair[0].0 + 2000 <= pair[1].0, "buffers overlap");
    }
    places.sort_unstable_by_key(|&(_, number)| number);
    assert!(places.iter().enumerate().all(|(i, &(_, number))| i as u32 == number));
    assert!(places.iter().all(|&(bus, _)| bus % 64 == 0));

    for buffer in &mut buffers {
        let number = buffer.number();
        buffer.bytes_mut().fill(number as u8);
    }
    assert!(buffers.iter().all(|b| b.bytes().len() == 2000 && b.bytes().iter().all(|&x| x == b.number() as u8)));
    for buffer in &buffers {
        assert_eq!(memory.read_bytes(buffer.bus(), 2000), buffer.bytes(), "the device sees the same bytes");
    }
    drop(buffers);
    assert_eq!(pool.available(), 2500);
}

#[test]
fn the_last_buffer_back_is_the_first_out() {
    let pool = Pool::new(&Memory::new(), 8, 64).unwrap();
    let (first, second) = (pool.get().unwrap(), pool.get().unwrap());
    let number = first.number();
    drop(second);
    drop(first);
    assert_eq!(pool.get().unwrap().number(), number);
}

#[test]
fn a_buffer_outlives_its_pool_and_two_pools_do_not_mix() {
    let memory = Memory::new();
    let (a, b) = (Pool::new(&memory, 4, 64).unwrap(), Pool::new(&memory, 4, 64).unwrap());
    let (from_a, mut from_b) = (a.get().unwrap(), b.get().unwrap());
    drop(from_a);
    assert_eq!((a.available(), b.available()), (4, 3));
    drop(b);
    from_b.bytes_mut().fill(7);
    assert_eq!(memory.mapped(), 2);
    drop(from_b);
    assert_eq!(memory.mapped(), 1);
}
