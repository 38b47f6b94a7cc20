#[derive(Debug)]
pub enum Signal {
    Ahead,
    Astern(u8),
    Stop,
    Moored { berth: u8 },
}
