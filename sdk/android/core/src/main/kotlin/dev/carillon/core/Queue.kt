package dev.carillon.core

import java.text.SimpleDateFormat
import java.util.Date
import java.util.Locale
import java.util.TimeZone
import java.util.UUID
import kotlin.math.min
import org.json.JSONArray
import org.json.JSONObject

/**
 * `IDENTITY_NEEDED`: the service needs a new token, so call login again. `TOKEN_LOST`: another device holds the push token, and
 * no challenge proved within a minute that it is this phone's; get a new one.
 */
enum class Notice { IDENTITY_NEEDED, TOKEN_LOST }

private const val MAX_BATCH = 50
private const val MAX_ITEMS = 1_000
private const val MAX_ITEM_AGE = 7 * 86_400_000L
internal const val MAX_WAIT = 3_600_000L

/** Returns the first items that can be sent together. Behind a sign-in that waits, only items that need no user can be sent. */
internal fun nextItems(state: State): List<Item> {
    if (state.isReceiverOnly) return state.queue.filterIsInstance<Receipt>().take(1)
    var isHeld = false
    for ((index, item) in state.queue.withIndex()) {
        if (!state.isRegistered && item !is Register) continue
        if (isHeld && (item is Identify || item is Report || item is Logout)) continue
        if (item is Identify && item.isWaiting) isHeld = true
        // The service knows another user: the sign-in is on its way, or was lost.
        else if (item is Report && item.user != state.serviceUser) isHeld = true
        else if (item is Report || item is Receipt) return takeSame(state.queue.drop(index).take(MAX_BATCH))
        else return listOf(item)
    }
    return emptyList()
}

/** Returns the first items that belong in one request: of one kind and one user. */
private fun takeSame(items: List<Item>): List<Item> {
    val group = { item: Item -> item.javaClass to (item as? Report)?.user }
    return items.takeWhile { group(it) == group(items.first()) }
}

/** Returns the request that sends the items. */
internal fun requestFor(state: State, items: List<Item>, device: Map<String, String>, now: Long): Request {
    val first = items.first()
    if (state.isReceiverOnly) return Request("${state.host}/v1/interactions", emptyMap(), interactionOf(first as Receipt))
    val own = "/installations/${state.id}"
    val (path, body) = when (val item = first) {
        is Register -> "/installations" to registrationOf(state, device)
        is Identify -> "$own/identify" to JSONObject().put("user_id", item.user).put("identity_token", item.token)
        is Logout -> "$own/logout" to null
        is Report -> {
            val events = JSONArray(items.map { (it as Report).body })
            "/events" to JSONObject().put("installation_id", state.id).put("sent_at", iso(now)).put("events", events)
        }
        is Receipt -> {
            val receipts = JSONArray(items.map { (it as Receipt).body })
            "/receipts" to JSONObject().put("installation_id", state.id).put("receipts", receipts)
        }
    }
    val headers = mapOf("Authorization" to "Bearer ${state.appKey}", "Carillon-Installation-Secret" to state.secret)
    return Request("${state.host}/v1/app$path", headers, body)
}

/** The kinds of `POST /v1/interactions`, by the types of receipts. */
private val interactionKinds = mapOf("shown" to "impression", "clicked" to "click", "dismissed" to "close")

/** A receipt without an app key: the token that came with the message is the credential. */
private fun interactionOf(receipt: Receipt): JSONObject {
    val body = receipt.body
    return JSONObject().put("token", body.getString("token")).put("kind", interactionKinds[body.getString("type")])
        .put("action", body.text("action")).put("id", body.getString("id"))
}

private fun registrationOf(state: State, device: Map<String, String>): JSONObject {
    val body = JSONObject(device)
        .put("installation_id", state.id).put("platform", "ANDROID").put("opted_in", state.isOptedIn)
    val token = state.token ?: return body
    return body.put("push_token", token.value).put("push_provider", token.provider)
        .put("push_token_type", token.type).put("push_token_challenge", state.challenge)
}

/** Applies a response to the state as it is now: logins and logouts may have happened meanwhile. Null: no response came. */
internal fun settle(state: State, sent: List<Item>, sentAs: String, response: Response?, now: Long): Notice? {
    val item = sent.first()
    val numbers = sent.map { it.number }.toSet()
    val remove = { state.queue.removeAll { it.number in numbers } }
    // Receipts without an app key are answered by 204.
    if (response?.status in 200..204) {
        state.failures = 0
        state.waitUntil = 0
        // An installation that was replaced meanwhile owns nothing of this response.
        if (state.id == sentAs) applySuccess(state, item, now)
        remove()
        return null
    }
    when (response?.code) {
        "INSTALLATION_UNKNOWN" -> return forgetInstallation(state, item, now)
        "IDENTITY_TOKEN_INVALID" -> {
            // A logout or another login may have removed it.
            val index = state.queue.indexOfFirst { it.number == item.number }
            val queued = state.queue.getOrNull(index) as? Identify ?: return null
            state.queue[index] = queued.copy(token = null, isWaiting = true)
            return Notice.IDENTITY_NEEDED
        }
        "PUSH_TOKEN_HELD" -> {
            state.token?.let { state.held = Held(it, now) }
            state.token = null
            state.challenge = null
            return null
        }
    }
    // 404: the message of a receipt is too old to be known.
    val isRefused = response?.status == 400 || response?.status == 413 || (response?.status == 404 && item is Receipt)
    if (isRefused || now - item.at > MAX_ITEM_AGE) {
        remove()
        return null
    }
    state.failures += 1
    state.isOffline = response == null
    val wait = maxOf((1L shl min(state.failures, 12)) * 500, (response?.retryAfterSeconds ?: 0) * 1_000)
    state.waitUntil = now + min(wait, MAX_WAIT)
    return null
}

private fun applySuccess(state: State, item: Item, now: Long) {
    when (item) {
        is Register -> {
            state.isRegistered = true
            state.challenge = null
        }
        is Identify -> {
            state.serviceUser = item.user
            // The user signed out while the request was on its way.
            if (state.user == null) enqueueLogout(state, now)
        }
        is Logout -> {
            state.serviceUser = null
            state.isHushed = false
        }
        is Report, is Receipt -> Unit
    }
}

/** The service lost the installation, or another one has its id. It registers again, and the user has to be proved again. */
private fun forgetInstallation(state: State, item: Item, now: Long): Notice? {
    if (item is Register) {
        val fresh = State()
        state.id = fresh.id
        state.secret = fresh.secret
        // A service that refuses every new id must not be asked in a loop.
        state.failures += 1
        if (state.failures > 1) state.waitUntil = now + min((1L shl min(state.failures, 12)) * 500, MAX_WAIT)
    }
    state.isRegistered = false
    state.serviceUser = null
    state.isHushed = false
    // No user is signed in there any more.
    state.queue.removeAll { it is Logout }
    ensureRegistered(state, now)
    val user = state.user ?: return null
    if (state.queue.any { it is Identify }) return null
    state.queue.add(1, Identify(state.number(), now, user, token = null, isWaiting = true))
    return Notice.IDENTITY_NEEDED
}

/** Registers before anything else is sent. */
internal fun ensureRegistered(state: State, now: Long) {
    if (!state.isRegistered && state.queue.none { it is Register }) state.queue.add(0, Register(state.number(), now))
}

/** Registers again, because something of the registration changed. */
internal fun enqueueRegister(state: State, now: Long) {
    // A registration sends the state of that moment, so one that has not been sent is enough; but it may be on its way.
    state.queue.add(Register(state.number(), now))
}

internal fun enqueueLogin(state: State, login: Pair<String, String?>, now: Long) {
    val (user, token) = login
    val isPending = state.queue.any { it is Identify || it is Logout }
    if (state.user == user && state.serviceUser == user && !isPending) return
    state.user = user
    state.queue.removeAll { it is Identify }
    val before = state.queue.indexOfFirst { it is Report && it.user == user && state.serviceUser != user }
    val item = Identify(state.number(), now, user, token)
    state.queue.add(if (before < 0) state.queue.size else before, item)
    state.waitUntil = 0
    ensureRegistered(state, now)
}

/** Forgets a token that was not used, with the events that only it could have sent. */
internal fun signOut(state: State, now: Long) {
    val known = state.serviceUser
    state.user = null
    state.queue.removeAll { it is Identify || (it is Report && it.user != null && it.user != known) }
    if (known != null) enqueueLogout(state, now)
    state.waitUntil = 0
}

internal fun enqueueLogout(state: State, now: Long) {
    state.isHushed = true
    if (state.queue.none { it is Logout }) state.queue.add(Logout(state.number(), now))
}

/** @param report an event or a change of attributes; its client id is made here, so that a retry counts once */
internal fun enqueueReport(state: State, report: JSONObject, now: Long) {
    report.put("id", UUID.randomUUID().toString())
    if (report.getString("type") == "event") report.put("time", iso(now))
    state.queue.add(Report(state.number(), now, state.user, report))
    ensureRegistered(state, now)
}

internal fun enqueueReceipt(state: State, receipt: JSONObject, now: Long) {
    receipt.put("id", UUID.randomUUID().toString())
    state.queue.add(Receipt(state.number(), now, receipt))
    if (!state.isReceiverOnly) ensureRegistered(state, now)
}

/** Registers with the code that arrived for a held token. A code for another installation is not for this phone to use. */
internal fun answerChallenge(state: State, challenge: Challenge, now: Long) {
    val held = state.held ?: return
    if (challenge.installationId != state.id) return
    state.token = held.token
    state.held = null
    state.challenge = challenge.code
    state.waitUntil = 0
    enqueueRegister(state, now)
}

/** Drops the oldest reports of a queue that nothing has emptied. */
internal fun limitQueue(state: State) {
    var over = state.queue.size - MAX_ITEMS
    if (over > 0) state.queue.removeAll { it is Report && over-- > 0 }
}

/** ISO 8601 in UTC. By `SimpleDateFormat`, because `java.time` needs Android 8. */
internal fun iso(at: Long): String {
    val format = SimpleDateFormat("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", Locale.ROOT)
    format.timeZone = TimeZone.getTimeZone("UTC")
    return format.format(Date(at))
}
