#if canImport(UIKit)
    import UIKit
    import UserNotifications

    #if canImport(CarillonCore)
        @_exported import CarillonCore
    #endif

    /// What an app sets at its start. The first three are entries of its Info.plist, from which they are read.
    public struct CarillonOptions: Sendable {
        /// The data prefix of the workspace (`carillon workspaces show`). `CarillonPrefix`
        public var prefix: String
        /// One of several apps of the workspace; nil for the default app. `CarillonAppId`
        public var appId: String?
        /// The App Group of the app and its notification service extension. `CarillonAppGroup`
        public var appGroup: String?
        /// False if your app has its own delegate of `UNUserNotificationCenter`, which calls `willPresent` and `didTap`.
        public var isDelegate = true
        /// False if messages must not be shown while the app is open. Listeners of `onMessage` get them in any case.
        public var isShownInForeground = true
        /// Opens a screen of the app, by the name that the message has for it.
        public var onNavigate: @MainActor @Sendable (_ screen: String, _ pairs: [String: String]) -> Void = { _, _ in }
        /// A tap on a message of another sender.
        public var onForeignTap: @Sendable (UNNotificationResponse) -> Void = { _ in }

        public init() {
            func text(_ name: String) -> String? { Bundle.main.object(forInfoDictionaryKey: name) as? String }
            prefix = text("CarillonPrefix") ?? "svc"
            appId = text("CarillonAppId")
            appGroup = text("CarillonAppGroup")
        }
    }

    /// Push, sign-in and events of an app. Every call stores what it is asked to do and returns; none throws because of the
    /// network. `login`, `logout` and the calls about the user throw `CarillonError.notStarted` before start.
    @available(iOSApplicationExtension, unavailable)
    public enum Carillon {
        static let center = MessageCenter()

        /// Listens to messages and taps before start, for an app whose start comes later, such as one in JavaScript. Reports of a tap
        /// are sent, if an earlier process had started. Call it before `didFinishLaunchingWithOptions` returns.
        @MainActor
        public static func prepare(options: CarillonOptions = CarillonOptions()) { center.prepare(options) }

        /// Registers the installation, with its push token. Call it, or prepare, before `didFinishLaunchingWithOptions` returns, or the tap
        /// that started the app is lost.
        ///
        /// - Parameters:
        ///   - appKey: a key of kind app; it is public
        ///   - host: the address of the service, such as `https://push.example.com`
        /// - Throws: `CarillonError.hostInvalid`
        @MainActor
        public static func start(appKey: String, host: String, options: CarillonOptions = CarillonOptions()) throws {
            try center.start(options, onPushToken: nil) { core in try core.start(appKey: appKey, host: host) }
        }

        /// For an app whose own server registers the phone and knows its user: the SDK shows messages and sends reports, without
        /// an app key. Call it instead of start.
        ///
        /// - Parameter onPushToken: gets the address of the phone at every start and when it changes; send it to your server
        @MainActor
        public static func startReceiving(
            host: String, options: CarillonOptions = CarillonOptions(),
            onPushToken: @escaping @MainActor @Sendable (PushToken) -> Void
        ) throws {
            try center.start(options, onPushToken: onPushToken) { core in try core.startReceiving(host: host) }
        }

        /// Asks for the permission. Call it when the reason is clear to the user. An app to which Apple granted critical alerts
        /// adds `.criticalAlert`; `.provisional` delivers quietly without a question.
        public static func askPermission(for options: UNAuthorizationOptions = [.alert, .badge, .sound]) async -> Bool {
            let isGranted = try? await UNUserNotificationCenter.current().requestAuthorization(options: options)
            center.readSettings()
            return isGranted ?? false
        }

        /// Signs a user in.
        ///
        /// - Parameter identityToken: issued by your server; it is sent once. Only a sandbox accepts a user without a token
        public static func login(_ userId: String, identityToken: String? = nil) throws {
            try center.requireCore().login(userId, identityToken: identityToken)
        }

        /// Signs the user out, offline too.
        public static func logout() throws { try center.requireCore().logout() }

        /// Reports an event of the current user. It is kept for seven days while the service cannot be reached.
        public static func track(_ name: String, _ attributes: Attributes = [:]) throws {
            try center.requireCore().track(name, attributes)
        }

        /// Sets attributes of the current user; null removes one. The workspace lists the attributes that apps may set.
        public static func setAttributes(_ attributes: Attributes) throws {
            try center.requireCore().setAttributes(attributes)
        }

        public static func optIn() throws { try center.requireCore().optIn() }

        /// Stops messages to this phone, whoever is signed in, until optIn.
        public static func optOut() throws { try center.requireCore().optOut() }

        /// Calls the listener for messages that reach the running app: those that arrive while it is open, and silent ones.
        /// Returns a function that ends it.
        @discardableResult
        public static func onMessage(_ listener: @escaping @Sendable (CarillonMessage) -> Void) -> @Sendable () -> Void {
            center.onMessage(listener)
        }

        /// `identityNeeded`: call login again, with a new token. Returns a function that ends it.
        @discardableResult
        public static func onNotice(_ listener: @escaping @Sendable (Notice) -> Void) -> @Sendable () -> Void {
            center.core.onNotice(listener)
        }

        /// For `application(_:didRegisterForRemoteNotificationsWithDeviceToken:)`.
        @MainActor
        public static func didRegister(deviceToken: Data) { center.didRegister(PushToken(deviceToken: deviceToken)) }

        /// For `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`: silent messages, and those whose app is to
        /// run as well. Returns false for a message of another sender, whose handler you call.
        @MainActor
        public static func didReceive(
            _ userInfo: [AnyHashable: Any], then: @escaping (UIBackgroundFetchResult) -> Void
        ) -> Bool {
            center.didReceive(userInfo, then: then)
        }

        /// For a delegate of your own: how to show a message while the app is open. Nil for a message of another sender.
        public static func willPresent(_ notification: UNNotification) -> UNNotificationPresentationOptions? {
            center.present(notification)
        }

        /// For a delegate of your own: reports a tap, and opens its target. Returns false for a message of another sender.
        @discardableResult
        public static func didTap(_ response: UNNotificationResponse) -> Bool { center.handle(response) }

        /// Sets the number on the icon, and reports it, so that the service counts on from there.
        @MainActor
        public static func setBadge(_ number: Int) {
            if #available(iOS 16.0, *) {
                UNUserNotificationCenter.current().setBadgeCount(number)
            } else {
                UIApplication.shared.applicationIconBadgeNumber = number
            }
            center.core.badge(number)
        }

        /// Registers the app's categories of buttons, which a campaign names by `category`. Categories that the extension made for
        /// buttons of messages stay.
        public static func setCategories(_ categories: Set<UNNotificationCategory>) {
            let own = Unchecked(categories)
            let center = UNUserNotificationCenter.current()
            center.getNotificationCategories { known in
                let made = known.filter { $0.identifier.hasPrefix(madeCategoryPrefix) }
                UNUserNotificationCenter.current().setNotificationCategories(own.value.union(made))
            }
        }
    }

    /// Identifiers of categories that the extension makes begin with this.
    private let madeCategoryPrefix = "carillon."

    /// A value that is only read, of a type that older SDKs of Apple do not declare as Sendable.
    struct Unchecked<Value>: @unchecked Sendable {
        let value: Value

        init(_ value: Value) {
            self.value = value
        }
    }
#endif
