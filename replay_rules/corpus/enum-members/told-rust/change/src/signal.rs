#[derive(Debug)]
pub enum Signal {
    Ahead,
    Astern(u8),
    Moored { berth: u8 },
}
