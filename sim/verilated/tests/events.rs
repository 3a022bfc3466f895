//! `$finish`, failures and time.

use ferronic_verilated::{Failure, PowerUp};
use ferronic_verilated_test_models::events::Events;

fn clock(model: &mut Events) {
    for level in [false, true] {
        model.set_clk(level);
        model.eval();
    }
}

/// One cycle without an event, then one with the input that `set` drives.
fn after(set: impl Fn(&mut Events)) -> Events {
    let mut m = Events::new(PowerUp::Zeros);
    clock(&mut m);
    assert!(!m.failed() && !m.finished());
    assert_eq!(m.failure(), None);
    set(&mut m);
    clock(&mut m);
    m
}

fn failure(set: impl Fn(&mut Events)) -> Failure {
    let m = after(set);
    assert!(m.failed());
    m.failure().expect("failed")
}

#[test]
fn error_tells_file_line_and_message() {
    let f = failure(|m| m.set_error(true));
    assert!(f.file.ends_with("events.sv"), "{f}");
    assert_eq!(f.line, 15);
    assert!(f.message.contains("value 42 is wrong"), "{f}");
}

#[test]
fn fatal_stop_and_assertions_do_not_abort() {
    assert!(failure(|m| m.set_fatal(true))
        .message
        .contains("cannot go on"));
    assert_eq!(failure(|m| m.set_stop(true)).message, "$stop");
    let f = failure(|m| m.set_must_be_low(true));
    assert!(f.message.contains("'assert' failed"), "{f}");
    assert_eq!(f.line, 20);
}

#[test]
fn the_first_failure_is_kept_and_the_model_goes_on() {
    let mut m = after(|m| m.set_stop(true));
    m.set_stop(false);
    m.set_error(true);
    m.set_time(77);
    clock(&mut m);
    assert_eq!(m.failure().unwrap().message, "$stop");
    assert_eq!(m.now(), 77);
}

#[test]
fn finish_is_no_failure() {
    let mut m = after(|m| m.set_finish(true));
    assert!(m.finished() && !m.failed());
    clock(&mut m);
    assert!(m.finished() && !m.failed());
}

#[test]
fn a_combinational_loop_fails_instead_of_hanging() {
    let f = failure(|m| m.set_oscillate(true));
    assert!(f.message.contains("did not converge"), "{f}");
}

#[test]
fn events_belong_to_their_model() {
    let mut quiet = Events::new(PowerUp::Zeros);
    let mut loud = Events::new(PowerUp::Zeros);
    loud.set_error(true);
    for time in 1..10 {
        quiet.set_time(time);
        loud.set_time(100 * time);
        clock(&mut quiet);
        clock(&mut loud);
        assert_eq!((quiet.now(), loud.now()), (time, 100 * time));
    }
    assert!(loud.failed() && !quiet.failed());
    drop(loud);
    quiet.set_finish(true);
    clock(&mut quiet);
    assert!(quiet.finished());
}

#[test]
fn a_model_takes_its_events_along_to_another_thread() {
    let mut m = Events::new(PowerUp::Zeros);
    m.set_error(true);
    let m = std::thread::spawn(move || {
        let _other = Events::new(PowerUp::Zeros);
        clock(&mut m);
        m
    })
    .join()
    .unwrap();
    assert!(m.failure().unwrap().message.contains("value 42"));
}
