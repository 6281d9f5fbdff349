// The declarations of Apple's UIKit that the SDK and the sample use.
@_exported import Foundation
import UserNotifications

public struct UIBackgroundTaskIdentifier: Equatable, Sendable {
    public static let invalid = UIBackgroundTaskIdentifier()
}

public enum UIBackgroundFetchResult: Sendable { case newData, noData, failed }

@MainActor
open class UIApplication {
    public struct LaunchOptionsKey: Hashable, Sendable {}
    public static var shared: UIApplication { fatalError() }
    nonisolated public static let willEnterForegroundNotification = Notification.Name("willEnterForeground")
    nonisolated public static let didEnterBackgroundNotification = Notification.Name("didEnterBackground")
    public var applicationIconBadgeNumber = 0
    public func registerForRemoteNotifications() {}
    public func open(
        _ url: URL, options: [String: Any] = [:], completionHandler: (@MainActor @Sendable (Bool) -> Void)? = nil
    ) {}
    public func beginBackgroundTask(
        withName name: String?, expirationHandler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier { fatalError() }
    public func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {}
}

@MainActor
public protocol UIApplicationDelegate: AnyObject {}

@MainActor
open class UIDevice {
    public static var current: UIDevice { fatalError() }
    public var systemVersion: String { fatalError() }
    public var model: String { fatalError() }
}
