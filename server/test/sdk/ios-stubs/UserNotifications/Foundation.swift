// The parts of Foundation that exist on Apple's systems only.
import Foundation
@_exported import FoundationNetworking

extension FileManager {
    public func containerURL(forSecurityApplicationGroupIdentifier group: String) -> URL? { fatalError() }
}

/// On Linux the container cannot be set.
open class BackgroundConfiguration: URLSessionConfiguration, @unchecked Sendable {
    open override var sharedContainerIdentifier: String? {
        get { fatalError() }
        set { fatalError() }
    }
}

extension URLSessionConfiguration {
    public class func background(withIdentifier identifier: String) -> BackgroundConfiguration { fatalError() }
}
