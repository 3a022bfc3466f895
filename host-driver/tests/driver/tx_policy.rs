//! The policies of a TX queue.

use std::time::Duration;

use ferronic::policy::tx::{Doorbell, Full, Notify, Reclaim};
use ferronic::tx::Why;
use ferronic::{Moderation, Nic, TxPolicy};
use ferronic_contract::registers::{self, queue, vector};
use proptest::prelude::*;

use crate::mock::{frame, number, small, Mock, CLOCK_KHZ};

/// Registers of TX queue 0's vector.
const VECTOR: u32 = registers::VECTOR + registers::VECTOR_STRIDE;

fn open(mock: &std::rc::Rc<Mock>, policy: TxPolicy) -> Nic {
    let mut nic = mock.open(&small());
    nic.tx.set_policy(policy).unwrap();
    nic
}

fn send(nic: &mut Nic, number: u32) -> Result<(), Why> {
    let mut buffer = nic.pool().get().expect("a free buffer");
    buffer.bytes_mut()[..60].copy_from_slice(&frame(number));
    nic.tx.send(buffer, 0, 60).map_err(|refused| refused.why)
}

fn fill(nic: &mut Nic, frames: u32) {
    (0..frames).for_each(|i| send(nic, i).unwrap());
    nic.tx.flush();
}

/// Catches: frames that the device never hears of, because who sent them no longer flushes.
#[test]
fn a_doorbell_for_each_frame_leaves_none_of_the_batch_before_behind() {
    let mock = Mock::new();
    let mut nic = open(&mock, TxPolicy { doorbell: Doorbell::Batch, ..TxPolicy::default() });
    (0..3).for_each(|i| send(&mut nic, i).unwrap());
    assert!(mock.transmit(8).is_empty());
    nic.tx.set_policy(TxPolicy { doorbell: Doorbell::EveryPacket, ..TxPolicy::default() }).unwrap();
    assert_eq!(mock.transmit(8).len(), 3);
}

/// Catches: a constant that is not kept; frames left behind for ever; a look at the index too many.
#[test]
fn a_constant_number_a_call() {
    let mock = Mock::new();
    let mut nic = open(&mock, TxPolicy { reclaim: Reclaim::Constant(3), ..TxPolicy::default() });
    let free = nic.pool().available();
    fill(&mut nic, 7);
    mock.transmit(7);
    assert_eq!([(); 4].map(|()| nic.tx.reclaim().unwrap()), [3, 3, 1, 0]);
    assert_eq!(nic.pool().available(), free);
    fill(&mut nic, 8);
    mock.transmit(8);
    send(&mut nic, 8).unwrap();
    assert_eq!(nic.tx.outstanding(), 6, "a send that finds the ring full takes no more");
    assert_eq!(nic.tx.reclaim_all().unwrap(), 5);
}

/// Catches: a look below the half; a ring that fills up though the device is done; a wait that does not look.
#[test]
fn nothing_before_half_the_ring_is_used() {
    let mock = Mock::new();
    let mut nic = open(&mock, TxPolicy { reclaim: Reclaim::HalfUsed, ..TxPolicy::default() });
    fill(&mut nic, 3);
    mock.transmit(3);
    assert_eq!((nic.tx.reclaim().unwrap(), nic.tx.statistics().reclaims), (0, 0));
    send(&mut nic, 3).unwrap();
    assert_eq!(nic.tx.reclaim().unwrap(), 3);
    for i in 0..100 {
        send(&mut nic, i).unwrap();
        nic.tx.flush();
        mock.transmit(1);
        assert!(nic.tx.outstanding() <= 4, "sending reclaims by itself");
    }
    assert!(nic.tx.statistics().reclaims < 40, "{:?}", nic.tx.statistics());
    fill(&mut nic, 1);
    mock.transmit(usize::MAX);
    assert!(nic.tx.wait(Duration::ZERO).unwrap() > 0, "who waits is told");
    assert_eq!(mock.waits.get(), 0);
}

/// Catches: a queue that wakes for every descriptor; one that never wakes; a frame taken while it is stopped.
#[test]
fn stops_when_full_and_wakes_at_the_threshold() {
    for reclaim in [Reclaim::All, Reclaim::Constant(1), Reclaim::HalfUsed] {
        let mock = Mock::new();
        let mut nic = open(&mock, TxPolicy { reclaim, full: Full::Stop { wake: 4 }, ..TxPolicy::default() });
        for i in 0..8 {
            assert!(!nic.tx.is_stopped());
            send(&mut nic, i).unwrap();
        }
        assert!(nic.tx.is_stopped(), "as soon as it is full");
        for done in 1..4 {
            mock.transmit(1);
            assert_eq!(send(&mut nic, 8), Err(Why::RingFull));
            assert_eq!((nic.tx.outstanding(), nic.tx.is_stopped()), (8 - done, true));
        }
        mock.transmit(1);
        send(&mut nic, 8).unwrap();
        let counted = nic.tx.statistics();
        assert_eq!((counted.stops, counted.wakes, counted.ring_full, counted.packets), (1, 1, 3, 9), "{reclaim:?}");
        assert!(!nic.tx.is_stopped());
    }
}

/// Catches: a dropped buffer that leaks; a drop that is not counted, or counted as sent; a queue that stops all the same.
#[test]
fn drops_when_full_with_a_counter() {
    let mock = Mock::new();
    let mut nic = open(&mock, TxPolicy { full: Full::Drop, ..TxPolicy::default() });
    let free = nic.pool().available();
    (0..13).for_each(|i| send(&mut nic, i).unwrap());
    assert_eq!((nic.tx.outstanding(), nic.tx.is_stopped(), nic.pool().available()), (8, false, free - 8));
    let sent = mock.transmit(usize::MAX);
    assert!(sent.iter().map(|bytes| number(bytes)).eq(0..8), "a full ring was told to the device");
    send(&mut nic, 13).unwrap();
    let counted = nic.tx.statistics();
    assert_eq!((counted.dropped_ring_full, counted.ring_full, counted.packets), (5, 0, 9));
    assert_eq!((counted.stops, counted.wakes), (0, 0));
}

/// Catches: a stopped queue that stays stopped under a policy that knows no stop.
#[test]
fn policies_change_while_frames_are_under_way() {
    let mock = Mock::new();
    let mut nic = open(&mock, TxPolicy { full: Full::Stop { wake: 8 }, ..TxPolicy::default() });
    fill(&mut nic, 8);
    assert!(nic.tx.is_stopped());
    nic.tx.set_policy(TxPolicy { full: Full::Drop, ..nic.tx.policy() }).unwrap();
    assert!(!nic.tx.is_stopped());
    for policy in [Reclaim::Constant(0), Reclaim::Constant(9)].map(|reclaim| TxPolicy { reclaim, ..TxPolicy::default() }) {
        nic.tx.set_policy(policy).unwrap_err();
    }
    for wake in [0, 9] {
        nic.tx.set_policy(TxPolicy { full: Full::Stop { wake }, ..TxPolicy::default() }).unwrap_err();
    }
    assert_eq!(nic.tx.policy().full, Full::Drop, "what was refused changes nothing");
}

#[test]
fn a_doorbell_for_each_packet_or_each_batch() {
    for (doorbell, rung) in [(Doorbell::EveryPacket, 6), (Doorbell::Batch, 1)] {
        let mock = Mock::new();
        let mut nic = open(&mock, TxPolicy { doorbell, ..TxPolicy::default() });
        fill(&mut nic, 6);
        assert_eq!(nic.tx.statistics().doorbells, rung);
        fill(&mut nic, 2);
        let full = nic.tx.statistics().doorbells;
        for _ in 0..5 {
            send(&mut nic, 8).unwrap_err();
            nic.tx.flush();
        }
        assert_eq!(nic.tx.statistics().doorbells, full, "none while the ring is full");
        assert_eq!(mock.transmit(usize::MAX).len(), 8);
    }
}

/// FRAMES and CYCLES of the vector after a wait with so many frames under way.
fn armed(nic: &mut Nic, mock: &Mock, frames: u32) -> (u32, u32) {
    fill(nic, frames);
    nic.tx.wait(Duration::ZERO).unwrap();
    (mock.get(VECTOR, vector::FRAMES), mock.get(VECTOR, vector::CYCLES))
}

/// Catches: a vector that keeps the numbers of the policy before; an index of all that is under way; an arming for nothing.
#[test]
fn a_wait_arms_the_vector_as_the_policy_says() {
    let usual = Moderation { usecs: 7, frames: 2 };
    let with = |policy| {
        let mock = Mock::new();
        let mut config = small();
        config.tx.moderation = usual;
        let mut nic = mock.open(&config);
        nic.tx.set_policy(policy).unwrap();
        (mock, nic)
    };
    let notify = |notify| TxPolicy { notify, ..TxPolicy::default() };
    let index = TxPolicy { full: Full::Stop { wake: 2 }, ..notify(Notify::EventIndex) };
    for (policy, frames, expected) in [
        (notify(Notify::EveryPacket), 5, (1, 0)),
        (notify(Notify::Moderated), 5, (2, 7 * CLOCK_KHZ / 1000)),
        (index, 5, (3, 0xFF_FFFF)),
        // Stopped: the second frame done is the one that matters.
        (index, 8, (2, 0xFF_FFFF)),
    ] {
        let (mock, mut nic) = with(policy);
        assert_eq!(armed(&mut nic, &mock, frames), expected, "{policy:?}");
        nic.tx.set_policy(TxPolicy::default()).unwrap();
        nic.tx.wait(Duration::ZERO).unwrap();
        assert_eq!(mock.get(VECTOR, vector::FRAMES), usual.frames, "back to what was configured");
    }
    let (mock, mut nic) = with(TxPolicy::default());
    nic.tx.wait(Duration::MAX).unwrap();
    assert_eq!(mock.waits.get(), 0, "nothing is under way");
}

/// Catches: an interrupt that is not counted; a stall that is not seen; a device that is gone taken for a slow one.
#[test]
fn a_device_that_stalls_is_counted_and_one_that_is_gone_is_an_error() {
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    fill(&mut nic, 4);
    for _ in 0..3 {
        assert_eq!(nic.tx.wait(Duration::ZERO).unwrap(), 0);
    }
    mock.sent_before_arming.set(4);
    assert_eq!(nic.tx.wait(Duration::ZERO).unwrap(), 4);
    let counted = nic.tx.statistics();
    assert_eq!((counted.timeouts, counted.interrupts), (3, 1));

    fill(&mut nic, 2);
    mock.set(registers::TX_QUEUE, queue::STATUS, queue::STOPPED.at(1));
    assert!(matches!(nic.tx.wait(Duration::ZERO), Err(ferronic::Error::Stopped { .. })));
    mock.gone.set(true);
    assert!(matches!(nic.tx.wait(Duration::ZERO), Err(ferronic::Error::DeviceGone)));
    assert_eq!(nic.tx.outstanding(), 2, "what the device may still read stays lent");
    let pool = nic.pool().clone();
    let free = pool.available();
    nic.close().unwrap_err();
    assert_eq!(pool.available(), free, "for ever");
}

/// One step of a sender that nobody planned.
#[derive(Clone, Debug)]
enum Step {
    Send(u32),
    Flush,
    Transmit(usize),
    Reclaim,
    Wait,
    Policy(TxPolicy),
    /// A word in the place of the index.
    Forge(u32),
}

fn policy() -> impl Strategy<Value = TxPolicy> {
    let reclaim = prop_oneof![Just(Reclaim::All), (1..=8u16).prop_map(Reclaim::Constant), Just(Reclaim::HalfUsed)];
    let full = prop_oneof![(1..=8u16).prop_map(|wake| Full::Stop { wake }), Just(Full::Drop)];
    let notify = prop::sample::select(vec![Notify::EveryPacket, Notify::Moderated, Notify::EventIndex]);
    let doorbell = prop::sample::select(vec![Doorbell::EveryPacket, Doorbell::Batch]);
    (reclaim, full, notify, doorbell)
        .prop_map(|(reclaim, full, notify, doorbell)| TxPolicy { reclaim, full, notify, doorbell })
}

fn steps(forged: u32) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (1..12u32).prop_map(Step::Send),
        2 => Just(Step::Flush),
        4 => (0..9usize).prop_map(Step::Transmit),
        2 => Just(Step::Reclaim),
        1 => Just(Step::Wait),
        2 => policy().prop_map(Step::Policy),
        forged => prop_oneof![0..20u32, any::<u32>()].prop_map(Step::Forge),
    ];
    prop::collection::vec(step, 1..if cfg!(miri) { 20 } else { 120 })
}

/// Runs the steps, and checks after each where every buffer is.
fn run(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let honest = !steps.iter().any(|step| matches!(step, Step::Forge(_)));
    let mock = Mock::new();
    mock.believed.set(!honest);
    let mut nic = mock.open(&small());
    let pool = nic.pool().clone();
    let (mut taken, mut seen) = (0, Vec::new());
    for step in steps {
        match step {
            Step::Send(count) => {
                for _ in 0..count {
                    let before = nic.tx.statistics().packets;
                    let _ = send(&mut nic, taken);
                    taken += (nic.tx.statistics().packets - before) as u32;
                }
            }
            Step::Flush => nic.tx.flush(),
            Step::Transmit(most) => seen.extend(mock.transmit(most).iter().map(|bytes| number(bytes))),
            Step::Reclaim => drop(nic.tx.reclaim()),
            Step::Wait => drop(nic.tx.wait(Duration::ZERO)),
            Step::Policy(policy) => nic.tx.set_policy(policy).unwrap(),
            Step::Forge(word) => mock.write_back(word),
        }
        let counted = nic.tx.statistics();
        prop_assert_eq!(counted.reclaimed + u64::from(nic.tx.outstanding()), counted.packets);
        prop_assert_eq!(pool.available() + u32::from(nic.tx.outstanding()) + 8, 32, "a buffer leaked");
        prop_assert!(counted.stops - counted.wakes == u64::from(nic.tx.is_stopped()));
    }
    if honest {
        nic.tx.flush();
        seen.extend(mock.transmit(usize::MAX).iter().map(|bytes| number(bytes)));
        prop_assert!(seen.into_iter().eq(0..taken), "lost, twice, or out of order");
        nic.tx.reclaim_all().unwrap();
        prop_assert_eq!((nic.tx.outstanding(), nic.tx.is_stopped()), (0, false));
    }
    nic.close().unwrap();
    prop_assert_eq!(pool.available(), 32);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 4 } else { 300 }, failure_persistence: None, ..ProptestConfig::default() })]

    /// Policies changed at random while frames are under way: nothing lost, nothing out of order, no buffer leaked.
    #[test]
    fn no_change_of_policy_loses_a_frame(steps in steps(0)) {
        run(steps)?;
    }

    /// The same with words at random where the index is written: no panic, no wild access, no buffer leaked.
    #[test]
    fn no_index_does_harm_under_any_policy(steps in steps(2)) {
        run(steps)?;
    }
}
