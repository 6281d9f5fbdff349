// The declarations of React Native that its bridge uses.
import Foundation

public typealias RCTPromiseResolveBlock = (Any?) -> Void
public typealias RCTPromiseRejectBlock = (String?, String?, (any Error)?) -> Void

open class RCTEventEmitter: NSObject {
    open class func requiresMainQueueSetup() -> Bool { fatalError() }
    open func supportedEvents() -> [String]! { fatalError() }
    open func startObserving() {}
    open func stopObserving() {}
    public func sendEvent(withName name: String, body: Any?) {}
}
