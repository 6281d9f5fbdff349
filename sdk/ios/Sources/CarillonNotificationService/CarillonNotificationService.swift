#if canImport(UserNotifications)
    import Foundation
    import UserNotifications

    #if canImport(CarillonCore)
        import CarillonCore
    #endif

    /// The notification service extension: the system runs it, for about thirty seconds, before it shows a message that has
    /// `mutable-content`. It reports that the message was shown, registers its buttons, and loads its picture.
    ///
    /// Your extension's class extends it. Its Info.plist has `CarillonHost` and `CarillonAppGroup`, and `CarillonPrefix` if the
    /// workspace has a data prefix.
    open class CarillonNotificationService: UNNotificationServiceExtension, @unchecked Sendable {
        /// iOS accepts pictures up to this size as attachments; a larger one is left out.
        private static let maxBytes = 10 * 1024 * 1024

        private let settings = ExtensionSettings(Bundle.main)
        /// Guards everything below: iOS calls the two methods on different threads.
        private let lock = NSLock()
        private var handOver: ((UNNotificationContent) -> Void)?
        private var content: UNMutableNotificationContent?
        private var loading: URLSessionDownloadTask?

        open override func didReceive(
            _ request: UNNotificationRequest,
            withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
        ) {
            guard let message = CarillonMessage(userInfo: request.content.userInfo, prefix: settings.prefix),
                let content = request.content.mutableCopy() as? UNMutableNotificationContent
            else { return contentHandler(request.content) }
            lock.withLock {
                handOver = contentHandler
                self.content = content
            }
            if settings.isHushed {
                hide()
                return
            }
            ImpressionReports.of(settings)?.send(message)
            registerButtons(of: message.buttons) { [weak self] in
                guard let media = message.media.first else {
                    self?.finish()
                    return
                }
                self?.attach(media)
            }
        }

        /// The time is up: the message is shown as far as it is.
        open override func serviceExtensionTimeWillExpire() {
            lock.withLock { loading }?.cancel()
            finish()
        }

        /// The message is for a user who signed out while the phone was offline. An extension cannot suppress it, so it shows the
        /// name of the app only.
        private func hide() {
            let name = Bundle.main.object(forInfoDictionaryKey: "CFBundleDisplayName") as? String
            lock.withLock {
                content?.title = ""
                content?.subtitle = ""
                content?.body = name ?? " "
                content?.sound = nil
                content?.userInfo = [:]
            }
            finish()
        }

        /// Once: a time that ends while a picture arrives would hand over twice.
        private func finish() {
            let (handOver, content) = lock.withLock { () -> (((UNNotificationContent) -> Void)?, UNMutableNotificationContent?) in
                defer { self.handOver = nil }
                return (self.handOver, self.content)
            }
            if let handOver = handOver, let content = content { handOver(content) }
        }

        /// Buttons are those of a category, which must be known before the message is shown.
        private func registerButtons(of buttons: [CarillonMessage.Button], then: @escaping @Sendable () -> Void) {
            guard !buttons.isEmpty else { return then() }
            let name = "carillon." + buttons.map { "\($0.action)=\($0.title)" }.joined(separator: ";")
            lock.withLock { content?.categoryIdentifier = name }
            UNUserNotificationCenter.current().getNotificationCategories { known in
                let actions = buttons.map { button in
                    UNNotificationAction(identifier: button.action, title: button.title, options: [.foreground])
                }
                let category = UNNotificationCategory(
                    identifier: name, actions: actions, intentIdentifiers: [], options: [.customDismissAction]
                )
                UNUserNotificationCenter.current().setNotificationCategories(known.union([category]))
                // It is stored some time after the call; reading it waits until it is.
                UNUserNotificationCenter.current().getNotificationCategories { _ in then() }
            }
        }

        private func attach(_ media: CarillonMessage.Media) {
            let task = URLSession.shared.downloadTask(with: media.address) { [weak self] file, response, _ in
                if let file = file, let attachment = Self.makeAttachment(file, media, response) {
                    self?.lock.withLock { self?.content?.attachments = [attachment] }
                }
                self?.finish()
            }
            lock.withLock { loading = task }
            task.resume()
        }

        /// iOS recognises the type by the end of the file's name.
        private static func makeAttachment(
            _ file: URL, _ media: CarillonMessage.Media, _ response: URLResponse?
        ) -> UNNotificationAttachment? {
            guard (response as? HTTPURLResponse)?.statusCode == 200 else { return nil }
            let size = (try? file.resourceValues(forKeys: [.fileSizeKey]))?.fileSize ?? Int.max
            guard size <= maxBytes else { return nil }
            let named = response?.suggestedFilename ?? media.address.lastPathComponent
            let kept = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString)-\(named)")
            do {
                try FileManager.default.moveItem(at: file, to: kept)
                return try UNNotificationAttachment(identifier: "carillon", url: kept, options: nil)
            } catch {
                return nil
            }
        }
    }

    /// What the Info.plist of the extension says.
    struct ExtensionSettings: Sendable {
        let host: URL?
        let prefix: String
        let group: URL?
        let groupName: String?

        init(_ bundle: Bundle) {
            func text(_ name: String) -> String? { bundle.object(forInfoDictionaryKey: name) as? String }
            host = text("CarillonHost").flatMap { URL(string: $0) }
            prefix = text("CarillonPrefix") ?? "svc"
            groupName = text("CarillonAppGroup")
            group = groupName.flatMap { FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: $0) }
        }

        /// A logout of the app has not reached the service.
        var isHushed: Bool {
            group.map { FileManager.default.fileExists(atPath: $0.appendingPathComponent("carillon-hushed").path) } ?? false
        }
    }
#endif
