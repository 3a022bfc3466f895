//! Buffers in other threads, and their way back.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::mpsc;
use std::thread;

use ferronic::{Allocation, Buffer, Parcel, Pool};

use crate::memory::Memory;
use crate::mock::{frame, number, small_with, Keep, Mock};

const WAYS: [Allocation; 3] = [Allocation::PagePool, Allocation::HalfPage, Allocation::Plain];
/// Fewer in Miri, which is slow.
const ROUNDS: u32 = if cfg!(miri) { 40 } else { 20_000 };

fn pool(memory: &Rc<Memory>, buffers: u32, way: Allocation) -> Pool {
    Pool::new(memory.clone(), buffers, 256, way).unwrap()
}

/// Catches: a buffer lost or twice there, whether it comes home by itself or in bulk; bytes that did not travel.
#[test]
fn buffers_go_out_and_come_home_while_both_sides_run() {
    for way in WAYS {
        let memory = Rc::new(Memory::new());
        let pool = pool(&memory, 64, way);
        let (to_single, single) = mpsc::channel::<Parcel>();
        let (to_bulk, bulk) = mpsc::channel::<Parcel>();
        let mut returner = pool.returner();
        let threads = [
            thread::spawn(move || single.into_iter().map(|parcel| u64::from(parcel.bytes()[0])).sum()),
            thread::spawn(move || {
                let mut sum = 0;
                for mut parcel in bulk {
                    sum += u64::from(parcel.bytes()[0]);
                    parcel.bytes_mut()[0] = 0xFF;
                    returner.give(parcel);
                }
                sum
            }),
        ];
        let (mut sent, mut sum) = (0, 0);
        while sent < ROUNDS {
            let Some(mut buffer) = pool.get() else {
                thread::yield_now();
                continue;
            };
            buffer.bytes_mut()[0] = sent as u8;
            sum += u64::from(sent as u8);
            let to = if sent % 3 == 0 { &to_single } else { &to_bulk };
            to.send(buffer.into_parcel()).unwrap();
            sent += 1;
        }
        drop((to_single, to_bulk));
        assert_eq!(threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u64>(), sum);
        assert_eq!(pool.available(), 64, "{way:?}");
        let all: Vec<_> = std::iter::from_fn(|| pool.get()).collect();
        assert_eq!(all.iter().map(Buffer::number).collect::<BTreeSet<_>>().len(), 64, "{way:?}");
        let counted = pool.statistics();
        assert_eq!((counted.returned, counted.taken), (u64::from(ROUNDS), u64::from(ROUNDS) + 64));
    }
}

/// Catches: a bulk that is never sent; one that goes home parcel by parcel.
#[test]
fn a_returner_gathers_and_flushes() {
    let memory = Rc::new(Memory::new());
    let (ours, other) = (pool(&memory, 40, Allocation::PagePool), pool(&memory, 1, Allocation::PagePool));
    let mut returner = ours.returner();
    let parcel = |pool: &Pool| pool.get().unwrap().into_parcel();
    (0..15).for_each(|_| returner.give(parcel(&ours)));
    assert_eq!(ours.available(), 25, "fifteen are gathered");
    returner.give(parcel(&ours));
    assert_eq!(ours.available(), 40);
    returner.give(parcel(&ours));
    returner.flush();
    assert_eq!(ours.available(), 40);
    let mut clone = returner.clone();
    clone.give(parcel(&ours));
    drop(clone);
    assert_eq!(ours.available(), 40, "dropping it flushes");
    returner.give(parcel(&other));
    assert_eq!(other.available(), 1, "another pool's goes to its own");
}

/// Catches: a packet's length lost on the way; a packet no longer counted as held while it travels, or for ever.
#[test]
fn a_packet_is_held_until_its_parcel_is_home() {
    let mock = Mock::new();
    let mut nic = mock.open(&small_with(|rx| rx.policy.copybreak = 0));
    let mut keep = Keep::default();
    assert!(mock.receive(&frame(7)));
    nic.rx[0].poll(64, &mut keep).unwrap();
    let free = nic.pool().available();
    let parcel = keep.0.pop().unwrap().into_buffer().into_parcel();
    assert_eq!(nic.pool().statistics().held_bytes, 60);
    thread::spawn(move || assert_eq!((parcel.bytes().len(), number(parcel.bytes())), (60, 7))).join().unwrap();
    assert_eq!(nic.pool().available(), free + 1, "on its way");
    nic.pool().resize(nic.pool().buffers()).unwrap();
    let counted = nic.pool().statistics();
    assert_eq!((counted.held, counted.held_bytes, counted.returned, nic.pool().available()), (0, 0, 1, free + 1));
}

/// Catches: memory freed under a parcel, or by a thread that it does not belong to.
#[test]
#[cfg_attr(miri, ignore = "leaves memory mapped on purpose, which Miri reports")]
fn a_parcel_outlives_its_pool() {
    for way in WAYS {
        let memory = Rc::new(Memory::new());
        let pool = pool(&memory, 4, way);
        let (mut here, mut there) = (pool.get().unwrap(), pool.get().unwrap());
        here.bytes_mut().fill(3);
        there.bytes_mut().fill(4);
        let (here, there, waits) = (here.into_parcel(), there.into_parcel(), pool.get().unwrap().into_parcel());
        let mut returner = pool.returner();
        drop(waits);
        drop(pool);
        assert!(memory.mapped() > 0);
        assert_eq!(here.bytes(), [3; 256]);
        drop(here);
        thread::spawn(move || {
            assert_eq!(there.bytes(), [4; 256]);
            returner.give(there);
        })
        .join()
        .unwrap();
        assert_eq!(memory.mapped(), 1, "{way:?}: the last of a region ended in another thread, and stays mapped");
    }
}
