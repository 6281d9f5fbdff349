import Foundation

/// Keeps one text. A write is complete, or has not happened.
public protocol Store: Sendable {
    func read() -> Data?
    func write(_ data: Data) throws
}

/// Keeps the data in a file whose folder is not part of backups: the secret belongs to one device.
public struct FileStore: Store {
    private let file: URL

    public init(file: URL) {
        self.file = file
    }

    public func read() -> Data? { try? Data(contentsOf: file) }

    public func write(_ data: Data) throws {
        var folder = file.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // Of the folder, because an atomic write replaces the file together with its attributes.
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try? folder.setResourceValues(values)
        // A silent message may start the app on a locked phone.
        try data.write(to: file, options: [.atomic, .completeFileProtectionUntilFirstUserAuthentication])
    }
}
