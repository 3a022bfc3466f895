use ferronic_sim::core_model::CoreModel;
use ferronic_sim::models::nic_core::NicCore;
use std::time::Instant;
fn main(){ let mut core=NicCore::power_up(1); CoreModel::set_reset(&mut core,true);
 for _ in 0..3 { let t=Instant::now(); let n=200_000u64; for _ in 0..n { CoreModel::clock(&mut core,false); CoreModel::clock(&mut core,true); CoreModel::set_reset(&mut core,false);} println!("{:.0} cycles/s", n as f64/t.elapsed().as_secs_f64()); } }
