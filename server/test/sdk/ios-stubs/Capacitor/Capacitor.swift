// The declarations of Capacitor that its plugin uses.
@_exported import Foundation
import UserNotifications

public typealias JSObject = [String: Any]

public let CAPPluginReturnPromise = "promise"

public final class CAPPluginMethod: NSObject {
    public init(name: String, returnType: String) {}
}

public protocol CAPBridgedPlugin {
    var identifier: String { get }
    var jsName: String { get }
    var pluginMethods: [CAPPluginMethod] { get }
}

public protocol NotificationHandlerProtocol: AnyObject {
    func willPresent(notification: UNNotification) -> UNNotificationPresentationOptions
    func didReceive(response: UNNotificationResponse)
}

open class NotificationRouter: NSObject {
    public weak var pushNotificationHandler: (any NotificationHandlerProtocol)?
}

public protocol CAPBridgeProtocol: AnyObject {
    var notificationRouter: NotificationRouter { get }
}

open class CAPPlugin: NSObject {
    public weak var bridge: (any CAPBridgeProtocol)?
    open func load() {}
    public func notifyListeners(_ name: String, data: [String: Any]?) {}
}

open class CAPPluginCall: NSObject {
    public func getString(_ key: String) -> String? { fatalError() }
    public func getObject(_ key: String) -> JSObject? { fatalError() }
    public func resolve() {}
    public func reject(_ message: String, _ code: String? = nil, _ error: (any Error)? = nil) {}
}

extension Notification.Name {
    public static let capacitorDidRegisterForRemoteNotifications = Notification.Name("registered")
}
