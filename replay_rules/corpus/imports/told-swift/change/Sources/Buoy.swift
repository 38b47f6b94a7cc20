import Foundation
import CoreLocation

struct Buoy {
    let name: String
}
