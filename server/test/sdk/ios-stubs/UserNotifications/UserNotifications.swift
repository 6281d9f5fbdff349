// The declarations of Apple's UserNotifications that the SDK uses, with the isolation that Apple's own have. Without bodies that do
// anything: they are compiled against, never run.
import Foundation

public struct UNAuthorizationOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let alert = UNAuthorizationOptions(rawValue: 1)
    public static let badge = UNAuthorizationOptions(rawValue: 2)
    public static let sound = UNAuthorizationOptions(rawValue: 4)
    public static let provisional = UNAuthorizationOptions(rawValue: 8)
}

public struct UNNotificationPresentationOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let badge = UNNotificationPresentationOptions(rawValue: 1)
    public static let sound = UNNotificationPresentationOptions(rawValue: 2)
    public static let list = UNNotificationPresentationOptions(rawValue: 4)
    public static let banner = UNNotificationPresentationOptions(rawValue: 8)
}

public struct UNNotificationActionOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let foreground = UNNotificationActionOptions(rawValue: 1)
}

public struct UNNotificationCategoryOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let customDismissAction = UNNotificationCategoryOptions(rawValue: 1)
}

public enum UNAuthorizationStatus: Sendable { case notDetermined, denied, authorized, provisional }

open class UNNotificationSettings: NSObject {
    public var authorizationStatus: UNAuthorizationStatus { fatalError() }
}

open class UNNotificationSound: NSObject {}

open class UNNotificationAttachment: NSObject {
    public convenience init(identifier: String, url: URL, options: [AnyHashable: Any]? = nil) throws { fatalError() }
}

open class UNNotificationAction: NSObject {
    public convenience init(identifier: String, title: String, options: UNNotificationActionOptions = []) { fatalError() }
}

open class UNNotificationCategory: NSObject {
    public var identifier: String { fatalError() }
    public convenience init(
        identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
        options: UNNotificationCategoryOptions = []
    ) { fatalError() }
}

open class UNNotificationContent: NSObject {
    public var userInfo: [AnyHashable: Any] { fatalError() }
    open override func mutableCopy() -> Any { fatalError() }
}

open class UNMutableNotificationContent: UNNotificationContent {
    public var title = ""
    public var subtitle = ""
    public var body = ""
    public var sound: UNNotificationSound?
    public var categoryIdentifier = ""
    public var attachments: [UNNotificationAttachment] = []
    public override var userInfo: [AnyHashable: Any] {
        get { fatalError() }
        set { fatalError() }
    }
}

open class UNNotificationRequest: NSObject {
    public var content: UNNotificationContent { fatalError() }
}

open class UNNotification: NSObject {
    public var request: UNNotificationRequest { fatalError() }
}

open class UNNotificationResponse: NSObject {
    public var notification: UNNotification { fatalError() }
    public var actionIdentifier: String { fatalError() }
}

public let UNNotificationDefaultActionIdentifier = ""
public let UNNotificationDismissActionIdentifier = " "

/// The two methods are optional in Apple's.
public protocol UNUserNotificationCenterDelegate: AnyObject {
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    )
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    )
}

open class UNUserNotificationCenter: NSObject {
    public class func current() -> UNUserNotificationCenter { fatalError() }
    public weak var delegate: (any UNUserNotificationCenterDelegate)?
    public func requestAuthorization(options: UNAuthorizationOptions = []) async throws -> Bool { fatalError() }
    public func setNotificationCategories(_ categories: Set<UNNotificationCategory>) {}
    public func getNotificationCategories(
        completionHandler: @escaping @Sendable (Set<UNNotificationCategory>) -> Void
    ) {}
    public func getNotificationSettings(completionHandler: @escaping @Sendable (UNNotificationSettings) -> Void) {}
    public func setBadgeCount(
        _ newBadgeCount: Int, withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {}
}

open class UNNotificationServiceExtension: NSObject {
    open func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {}
    open func serviceExtensionTimeWillExpire() {}
}
