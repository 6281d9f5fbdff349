import Carillon
import Foundation

/// The Carillon that this app belongs to: of the link that the console shows as a QR code, else of Config.xcconfig.
@MainActor
enum Service {
    static func start() throws {
        let key = UserDefaults.standard.string(forKey: "key") ?? text("CarillonAppKey")
        let host = UserDefaults.standard.string(forKey: "host") ?? text("CarillonHost")
        try Carillon.start(appKey: key, host: host)
    }

    /// Only a sample changes its service by a link: in a real app a stranger's QR code could take its users over.
    static func connect(_ link: URL) throws {
        let query = URLComponents(url: link, resolvingAgainstBaseURL: false)?.queryItems ?? []
        func value(_ name: String) -> String? { query.first { $0.name == name }?.value }
        guard link.scheme == "carillon-sample", let key = value("key"), let host = value("host") else { return }
        try Carillon.start(appKey: key, host: host)
        UserDefaults.standard.set(key, forKey: "key")
        UserDefaults.standard.set(host, forKey: "host")
    }

    /// Config.xcconfig sets these entries of the Info.plist.
    private static func text(_ name: String) -> String {
        Bundle.main.object(forInfoDictionaryKey: name) as? String ?? ""
    }
}
