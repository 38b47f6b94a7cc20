import Foundation
import Combine

struct Buoy {
    let name: String
}
