import Foundation
import UserNotifications

/// The notification service extension: the system runs it, for thirty seconds at most, before it shows a message that has
/// `mutable-content`. It reports that the message is seen, registers its buttons, and loads what it shows.
/// In the extension's Info.plist: NSExtensionPrincipalClass = $(PRODUCT_MODULE_NAME).NotificationService.
final class NotificationService: UNNotificationServiceExtension {
    /// The same as in the app. Fill in what is yours.
    private static let settings = CarillonSettings(
        service: URL(string: "https://push.example.com")!,
        registration: URL(string: "https://shop.example.com/devices")!,
        appGroup: "group.com.example.shop"
    )
    /// One for the process, which may see several messages.
    private static let reports = CarillonReports(settings: settings)
    /// What iOS takes as an attachment, with room for a picture; above it the message comes without.
    private static let mostBytes = 10 * 1024 * 1024

    private var handOver: ((UNNotificationContent) -> Void)?
    private var content: UNMutableNotificationContent?
    private var loading: URLSessionDownloadTask?

    override func didReceive(
        _ request: UNNotificationRequest,
        withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        let settings = NotificationService.settings
        guard
            let message = CarillonMessage(userInfo: request.content.userInfo, prefix: settings.prefix),
            let content = request.content.mutableCopy() as? UNMutableNotificationContent
        else {
            contentHandler(request.content)
            return
        }
        handOver = contentHandler
        self.content = content
        NotificationService.reports.send("impression", of: message)
        registerButtons(of: message) { [weak self] in
            guard let first = message.media.first else {
                self?.finish()
                return
            }
            self?.attach(first)
        }
    }

    /// The time is up: as far as it is.
    override func serviceExtensionTimeWillExpire() {
        loading?.cancel()
        finish()
    }

    /// Once: a time that ends while a picture arrives would hand over twice.
    private func finish() {
        guard let content = content, let handOver = handOver else { return }
        self.handOver = nil
        handOver(content)
    }

    /// Buttons are those of a category, which has to be known before the message is shown. A message with a category of the
    /// app's own has no buttons here.
    private func registerButtons(of message: CarillonMessage, then: @escaping () -> Void) {
        guard !message.buttons.isEmpty else {
            then()
            return
        }
        let name = "carillon." + message.buttons.map { "\($0.action)=\($0.title)" }.joined(separator: ";")
        let actions = message.buttons.map { button in
            UNNotificationAction(identifier: button.action, title: button.title, options: [.foreground])
        }
        let category = UNNotificationCategory(
            identifier: name,
            actions: actions,
            intentIdentifiers: [],
            options: [.customDismissAction]
        )
        content?.categoryIdentifier = name
        let center = UNUserNotificationCenter.current()
        center.getNotificationCategories { known in
            center.setNotificationCategories(known.union([category]))
            // It is stored some time after the call; asking for it waits until it is.
            center.getNotificationCategories { _ in then() }
        }
    }

    private func attach(_ media: CarillonMessage.Media) {
        loading = URLSession.shared.downloadTask(with: media.address) { [weak self] file, response, _ in
            if let file = file, let attachment = NotificationService.makeAttachment(file, media, response) {
                self?.content?.attachments = [attachment]
            }
            self?.finish()
        }
        loading?.resume()
    }

    /// iOS tells what it is by the end of the file's name.
    private static func makeAttachment(
        _ file: URL,
        _ media: CarillonMessage.Media,
        _ response: URLResponse?
    ) -> UNNotificationAttachment? {
        guard (response as? HTTPURLResponse)?.statusCode == 200 else { return nil }
        let size = (try? file.resourceValues(forKeys: [.fileSizeKey]))?.fileSize ?? Int.max
        guard size <= mostBytes else { return nil }
        let named = response?.suggestedFilename ?? media.address.lastPathComponent
        let kept = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString)-\(named)")
        do {
            try FileManager.default.moveItem(at: file, to: kept)
            return try UNNotificationAttachment(identifier: "carillon", url: kept)
        } catch {
            return nil
        }
    }
}
