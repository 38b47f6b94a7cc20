import Foundation

struct Buoy {
    let name: String
}
