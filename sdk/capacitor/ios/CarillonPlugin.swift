import Capacitor
import Foundation
import UIKit
import UserNotifications

#if canImport(Carillon)
    import Carillon
#endif

/// Passes calls of the page to the SDK, and its messages and notices to the page.
@objc(CarillonPlugin)
public final class CarillonPlugin: CAPPlugin, CAPBridgedPlugin, @unchecked Sendable {
    public let identifier = "CarillonPlugin"
    public let jsName = "Carillon"
    public let pluginMethods: [CAPPluginMethod] = [
        "start", "askPermission", "login", "logout", "track", "setAttributes", "optIn", "optOut",
    ].map { CAPPluginMethod(name: $0, returnType: CAPPluginReturnPromise) }
    private let taps = TapHandler()

    public override func load() {
        Task { @MainActor in listen() }
        Carillon.onMessage { [weak self] in self?.notifyListeners("message", data: describe($0)) }
        Carillon.onNotice { [weak self] in self?.notifyListeners("notice", data: ["notice": $0.rawValue]) }
    }

    @MainActor
    private func listen() {
        // Capacitor is the delegate of the notification centre, and passes pushes to one handler.
        var options = CarillonOptions()
        options.isDelegate = false
        Carillon.prepare(options: options)
        bridge?.notificationRouter.pushNotificationHandler = taps
        // Posted by the application delegate, as for Capacitor's own plugin for pushes.
        _ = NotificationCenter.default.addObserver(
            forName: .capacitorDidRegisterForRemoteNotifications, object: nil, queue: .main
        ) { posted in
            guard let token = posted.object as? Data else { return }
            Task { @MainActor in Carillon.didRegister(deviceToken: token) }
        }
    }

    @objc func start(_ call: CAPPluginCall) {
        let kept = BridgeCall(call)
        Task { @MainActor in
            kept.settle {
                var options = CarillonOptions()
                options.isDelegate = false
                let (appKey, host) = (try kept.text("appKey"), try kept.text("host"))
                try Carillon.start(appKey: appKey, host: host, options: options)
            }
        }
    }

    @objc func askPermission(_ call: CAPPluginCall) {
        let kept = BridgeCall(call)
        Task {
            _ = await Carillon.askPermission()
            kept.settle {}
        }
    }

    @objc func login(_ call: CAPPluginCall) {
        let kept = BridgeCall(call)
        kept.settle { try Carillon.login(try kept.text("userId"), identityToken: call.getString("identityToken")) }
    }

    @objc func logout(_ call: CAPPluginCall) { BridgeCall(call).settle { try Carillon.logout() } }

    @objc func track(_ call: CAPPluginCall) {
        let kept = BridgeCall(call)
        kept.settle { try Carillon.track(try kept.text("name"), try kept.attributes()) }
    }

    @objc func setAttributes(_ call: CAPPluginCall) {
        let kept = BridgeCall(call)
        kept.settle { try Carillon.setAttributes(try kept.attributes()) }
    }

    @objc func optIn(_ call: CAPPluginCall) { BridgeCall(call).settle { try Carillon.optIn() } }

    @objc func optOut(_ call: CAPPluginCall) { BridgeCall(call).settle { try Carillon.optOut() } }
}

private final class TapHandler: NSObject, NotificationHandlerProtocol {
    func willPresent(notification: UNNotification) -> UNNotificationPresentationOptions {
        Carillon.willPresent(notification) ?? []
    }

    func didReceive(response: UNNotificationResponse) { Carillon.didTap(response) }
}

private func describe(_ message: CarillonMessage) -> [String: Any] {
    [
        "id": message.id, "title": message.title, "message": message.text, "isSilent": message.isSilent,
        "pairs": message.pairs,
    ]
}

private struct ArgumentError: Error {
    let reason: String
}

/// Capacitor reads and settles a call on any thread.
private struct BridgeCall: @unchecked Sendable {
    private let call: CAPPluginCall

    init(_ call: CAPPluginCall) {
        self.call = call
    }

    func text(_ name: String) throws -> String {
        guard let text = call.getString(name) else { throw ArgumentError(reason: "\(name) must be a text") }
        return text
    }

    func attributes() throws -> Attributes {
        guard let given = call.getObject("attributes"), let values = Value.attributes(given) else {
            throw ArgumentError(reason: "attributes must be an object of texts, numbers, flags, null, or lists of them")
        }
        return values
    }

    func settle(_ work: () throws -> Void) {
        do {
            try work()
            call.resolve()
        } catch CarillonError.hostInvalid {
            call.reject("the host is not an http(s) address", "carillon-host")
        } catch let error as ArgumentError {
            call.reject(error.reason, "carillon-argument")
        } catch {
            call.reject("call Carillon.start first", "carillon-state", error)
        }
    }
}
