import Foundation

struct Buoy {
    let name: String
}

extension Buoy {
    var label: String { name.uppercased() }
}
