#if canImport(UIKit)
    import UIKit
    import UserNotifications

    #if canImport(CarillonCore)
        import CarillonCore
    #endif

    /// Connects the core with iOS: tokens, messages, taps, the time that an app has in the background. iOS calls it on threads
    /// of its choice.
    @available(iOSApplicationExtension, unavailable)
    final class MessageCenter: NSObject, UNUserNotificationCenterDelegate, @unchecked Sendable {
        let core: CarillonCore
        private let details = DeviceDetails()
        /// Guards everything below.
        private let lock = NSLock()
        private var options = CarillonOptions()
        private var isPrepared = false
        private var isStarted = false
        private var onPushToken: (@MainActor @Sendable (PushToken) -> Void)?
        private var listeners: [Int: @Sendable (CarillonMessage) -> Void] = [:]
        private var nextListener = 0

        override init() {
            let folder = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
            let file = folder.appendingPathComponent("carillon", isDirectory: true).appendingPathComponent("installation.json")
            var options = CoreOptions(store: FileStore(file: file))
            options.device = { [details] in details.values }
            options.onHush = { [details] in details.mark(isHushed: $0) }
            core = CarillonCore(options)
            super.init()
        }

        @MainActor
        func start(
            _ options: CarillonOptions, onPushToken: (@MainActor @Sendable (PushToken) -> Void)?,
            with work: (CarillonCore) throws -> Void
        ) throws {
            prepare(options)
            try work(core)
            lock.withLock {
                self.onPushToken = onPushToken
                isStarted = true
            }
            // At every start: the address may have changed. Apple has no call for another one, so a token that another device holds
            // is tried again here too.
            UIApplication.shared.registerForRemoteNotifications()
            readSettings()
        }

        @MainActor
        func prepare(_ options: CarillonOptions) {
            details.read(appId: options.appId, appGroup: options.appGroup)
            let isFirst = lock.withLock { () -> Bool in
                self.options = options
                defer { isPrepared = true }
                return !isPrepared
            }
            if isFirst { observe() }
            if options.isDelegate { UNUserNotificationCenter.current().delegate = self }
        }

        /// - Throws: `CarillonError.notStarted`
        func requireCore() throws -> CarillonCore {
            if !lock.withLock({ isStarted }) { throw CarillonError.notStarted }
            return core
        }

        func onMessage(_ listener: @escaping @Sendable (CarillonMessage) -> Void) -> @Sendable () -> Void {
            let number = lock.withLock { () -> Int in
                nextListener += 1
                listeners[nextListener] = listener
                return nextListener
            }
            return { [weak self] in self?.lock.withLock { _ = self?.listeners.removeValue(forKey: number) } }
        }

        @MainActor
        func didRegister(_ token: PushToken) {
            if let listener = lock.withLock({ onPushToken }) { listener(token) } else { core.setPushToken(token) }
        }

        @MainActor
        func didReceive(_ userInfo: [AnyHashable: Any], then: @escaping (UIBackgroundFetchResult) -> Void) -> Bool {
            guard let message = read(userInfo) else { return false }
            if let challenge = message.challenge {
                core.answer(challenge)
            } else if !core.isHushed, message.isSilent {
                tell(message)
            }
            // A push has arrived, so there is a network.
            core.online()
            Task { @MainActor in
                await core.sync()
                then(.newData)
            }
            return true
        }

        /// Without it nothing is shown while the app is open.
        func userNotificationCenter(
            _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
            withCompletionHandler done: @escaping (UNNotificationPresentationOptions) -> Void
        ) {
            done(present(notification) ?? [.banner, .list, .sound, .badge])
        }

        /// Nil for a message of another sender.
        func present(_ notification: UNNotification) -> UNNotificationPresentationOptions? {
            guard let message = read(notification.request.content.userInfo) else { return nil }
            if core.isHushed { return [] }
            tell(message)
            return lock.withLock { options.isShownInForeground } ? [.banner, .list, .sound, .badge] : []
        }

        func userNotificationCenter(
            _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
            withCompletionHandler done: @escaping () -> Void
        ) {
            if !handle(response) { lock.withLock { options.onForeignTap }(response) }
            done()
        }

        /// Returns false for a message of another sender.
        func handle(_ response: UNNotificationResponse) -> Bool {
            guard let message = read(response.notification.request.content.userInfo) else { return false }
            switch response.actionIdentifier {
            case UNNotificationDismissActionIdentifier:
                // Only categories with `customDismissAction` report it, such as those that the extension makes.
                report(message, .dismissed)
            case UNNotificationDefaultActionIdentifier:
                report(message, .clicked)
                follow(message)
            case let action:
                report(message, .clicked, action: action)
                if let address = message.buttons.first(where: { $0.action == action })?.address {
                    open(address)
                } else {
                    follow(message)
                }
            }
            return true
        }

        /// A user may allow more, or less, in the settings of the phone.
        func readSettings() {
            UNUserNotificationCenter.current().getNotificationSettings { [core] settings in
                core.setProvisional(settings.authorizationStatus == .provisional)
            }
        }

        private func read(_ userInfo: [AnyHashable: Any]) -> CarillonMessage? {
            CarillonMessage(userInfo: userInfo, prefix: lock.withLock { options.prefix })
        }

        private func tell(_ message: CarillonMessage) {
            for listener in lock.withLock({ Array(listeners.values) }) { listener(message) }
        }

        private func report(_ message: CarillonMessage, _ type: Receipt.Kind, action: String? = nil) {
            guard let token = message.reportToken else { return }
            core.receipt(Receipt(token: token, type: type, action: action))
            // A swipe does not open the app, which is suspended again soon.
            Task { @MainActor in await self.sendInBackground() }
        }

        private func follow(_ message: CarillonMessage) {
            guard let target = message.target else { return }
            if target.type == "navigation" {
                let navigate = lock.withLock { options.onNavigate }
                Task { @MainActor in navigate(target.value, message.pairs) }
            } else if let address = URL(string: target.value), target.type == "deeplinking" || isWeb(address) {
                open(address)
            }
        }

        /// A message may neither run code nor read files of the app.
        private func open(_ address: URL) {
            let refused = ["javascript", "file", "data"]
            guard let scheme = address.scheme?.lowercased(), !refused.contains(scheme) else { return }
            Task { @MainActor in UIApplication.shared.open(address) }
        }

        private func isWeb(_ address: URL) -> Bool { ["https", "http"].contains(address.scheme?.lowercased() ?? "") }

        @MainActor
        private func observe() {
            let notifications = NotificationCenter.default
            _ = notifications.addObserver(
                forName: UIApplication.willEnterForegroundNotification, object: nil, queue: .main
            ) { [weak self] _ in
                self?.core.online()
                self?.readSettings()
            }
            _ = notifications.addObserver(
                forName: UIApplication.didEnterBackgroundNotification, object: nil, queue: .main
            ) { [weak self] _ in
                Task { @MainActor in await self?.sendInBackground() }
            }
        }

        /// Asks iOS for time, about half a minute, to send what waits.
        @MainActor
        private func sendInBackground() async {
            let time = BackgroundTime()
            time.begin()
            await core.sync()
            time.end()
        }
    }

    @available(iOSApplicationExtension, unavailable)
    @MainActor
    private final class BackgroundTime {
        private var id = UIBackgroundTaskIdentifier.invalid

        func begin() {
            id = UIApplication.shared.beginBackgroundTask(withName: "carillon") { self.end() }
        }

        func end() {
            if id == .invalid { return }
            UIApplication.shared.endBackgroundTask(id)
            id = .invalid
        }
    }

    /// What the registration says of the phone, and the mark for the extension that a logout is on its way.
    private final class DeviceDetails: @unchecked Sendable {
        private let lock = NSLock()
        private var fixed: [String: String] = [:]
        private var mark: URL?
        private var isMarked: Bool?

        @MainActor
        func read(appId: String?, appGroup: String?) {
            var values = ["os_version": UIDevice.current.systemVersion, "model": UIDevice.current.model]
            values["app_version"] = Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String
            values["app_id"] = appId
            let group = appGroup.flatMap { FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: $0) }
            lock.withLock {
                fixed = values
                mark = group?.appendingPathComponent("carillon-hushed")
            }
        }

        var values: [String: String] {
            var values = lock.withLock { fixed }
            values["locale"] = Locale.preferredLanguages.first
            values["time_zone"] = TimeZone.current.identifier
            return values
        }

        func mark(isHushed: Bool) {
            lock.withLock {
                guard let mark = mark, isMarked != isHushed else { return }
                isMarked = isHushed
                if isHushed {
                    try? Data().write(to: mark)
                } else {
                    try? FileManager.default.removeItem(at: mark)
                }
            }
        }
    }
#endif
