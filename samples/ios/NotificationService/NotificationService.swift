import CarillonNotificationService

/// Loads pictures, and reports which messages were shown. Its settings are in Support/NotificationService-Info.plist.
final class NotificationService: CarillonNotificationService, @unchecked Sendable {}
