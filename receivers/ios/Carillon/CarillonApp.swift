import Foundation
import UIKit
import UserNotifications

/// The app's part: asks, registers, opens what a tap leads to, and reports. Your application delegate makes one before it
/// returns from `didFinishLaunchingWithOptions`, or the tap that started the app is lost, and hands its own calls on.
public final class CarillonApp: NSObject, UNUserNotificationCenterDelegate {
    private let settings: CarillonSettings
    private let reports: CarillonReports

    /// Value of the `Authorization` header for your own server; asked each time something is sent.
    public var authorization: () -> String? = { nil }
    /// A screen of the app, by the name that the message has for it.
    public var onNavigate: (_ screen: String, _ pairs: [String: String]) -> Void = { _, _ in }
    /// A message for the app alone.
    public var onSilent: (CarillonMessage) -> Void = { _ in }
    /// A tap on a message of somebody else.
    public var onForeign: (UNNotificationResponse) -> Void = { _ in }

    public init(settings: CarillonSettings) {
        self.settings = settings
        reports = CarillonReports(settings: settings)
        super.init()
        UNUserNotificationCenter.current().delegate = self
    }

    /// At every start: the address may have changed, and the registration may have been lost on its way.
    public func register() {
        UIApplication.shared.registerForRemoteNotifications()
    }

    /// When it is clear to the person what for. An app to which Apple granted critical alerts adds `.criticalAlert`.
    public func askPermission(
        for options: UNAuthorizationOptions = [.alert, .badge, .sound], then: @escaping (Bool) -> Void = { _ in }
    ) {
        UNUserNotificationCenter.current().requestAuthorization(options: options) { isGranted, _ in
            DispatchQueue.main.async { then(isGranted) }
        }
    }

    /// Of `application(_:didRegisterForRemoteNotificationsWithDeviceToken:)`. Your server holds the key that registers a
    /// device with Carillon; an app must not.
    public func didRegister(deviceToken: Data) {
        let token = deviceToken.map { String(format: "%02x", $0) }.joined()
        var device: [String: Any] = ["platform": "iOS", "push_id": token, "model": UIDevice.current.model]
        device["os_version"] = UIDevice.current.systemVersion
        device["app_version"] = Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String
        // In which of its languages a message comes, and from which number on the service counts.
        device["locale"] = Locale.preferredLanguages.first
        device["badge_count"] = UIApplication.shared.applicationIconBadgeNumber
        guard let body = try? JSONSerialization.data(withJSONObject: device) else { return }
        var request = URLRequest(url: settings.registration)
        request.httpMethod = "POST"
        request.httpBody = body
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        if let value = authorization() { request.setValue(value, forHTTPHeaderField: "Authorization") }
        // Waits for a network; what fails all the same is repeated by the next start.
        let configuration = URLSessionConfiguration.default
        configuration.waitsForConnectivity = true
        let session = URLSession(configuration: configuration)
        session.dataTask(with: request).resume()
        session.finishTasksAndInvalidate()
    }

    /// Of `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`: silent messages, and those whose app is to
    /// run as well.
    public func didReceive(userInfo: [AnyHashable: Any], then: (UIBackgroundFetchResult) -> Void) {
        let message = CarillonMessage(userInfo: userInfo, prefix: settings.prefix)
        if let message = message, message.silentPairs != nil { onSilent(message) }
        then(message == nil ? .noData : .newData)
    }

    /// Without it nothing is shown while the app is open.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter,
        willPresent notification: UNNotification,
        withCompletionHandler done: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        done([.banner, .list, .sound, .badge])
    }

    public func userNotificationCenter(
        _ center: UNUserNotificationCenter,
        didReceive response: UNNotificationResponse,
        withCompletionHandler done: @escaping () -> Void
    ) {
        defer { done() }
        let userInfo = response.notification.request.content.userInfo
        guard let message = CarillonMessage(userInfo: userInfo, prefix: settings.prefix) else {
            onForeign(response)
            return
        }
        switch response.actionIdentifier {
        case UNNotificationDismissActionIdentifier:
            // Told only for categories with `customDismissAction`, as those of our extension are.
            reports.send("close", of: message)
        case UNNotificationDefaultActionIdentifier:
            reports.send("click", of: message)
            follow(message.target)
        case let action:
            reports.send("click", of: message, action: action)
            let button = message.buttons.first { $0.action == action }
            if let address = button?.address { openAddress(address) } else { follow(message.target) }
        }
    }

    private func follow(_ target: CarillonMessage.Target?) {
        guard let target = target else { return }
        if target.type == "navigation" {
            onNavigate(target.value, target.pairs)
        } else if let address = URL(string: target.value), target.type == "deeplinking" || isWeb(address) {
            openAddress(address)
        }
    }

    /// A message may neither run code nor read files of the app.
    private func openAddress(_ address: URL) {
        let refused = ["javascript", "file", "data"]
        guard let scheme = address.scheme?.lowercased(), !refused.contains(scheme) else { return }
        UIApplication.shared.open(address)
    }

    private func isWeb(_ address: URL) -> Bool {
        return ["https", "http"].contains(address.scheme?.lowercased() ?? "")
    }
}
