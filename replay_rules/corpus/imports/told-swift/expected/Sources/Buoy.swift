import Foundation
import Combine
import CoreLocation

struct Buoy {
    let name: String
}
