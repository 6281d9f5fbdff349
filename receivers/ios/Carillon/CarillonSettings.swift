import Foundation

/// What the receiver has to know of your app. Made alike in the app and in its notification service extension.
public struct CarillonSettings {
    /// Origin of your Carillon service, as `https://push.example.com`: where reports go, whatever a message says.
    public let service: URL
    /// An address of your own server, which knows who is signed in and registers the phone with Carillon.
    public let registration: URL
    /// The App Group of the app and its extension, in whose folder reports wait until they are sent.
    public let appGroup: String
    /// Carillon's own part of a message beside `aps`; the header prefix of the installation unless the workspace has its own.
    public let prefix: String

    public init(service: URL, registration: URL, appGroup: String, prefix: String = "svc") {
        self.service = service
        self.registration = registration
        self.appGroup = appGroup
        self.prefix = prefix
    }
}
