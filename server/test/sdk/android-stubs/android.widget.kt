@file:Suppress("UNUSED_PARAMETER", "unused")

package android.widget

import android.content.Context
import android.view.View

class Toast {
    fun show() { TODO() }

    companion object {
        const val LENGTH_SHORT = 0
        fun makeText(context: Context, text: CharSequence, length: Int): Toast = TODO()
    }
}

open class TextView(context: Context) : View() {
    var text: CharSequence = TODO()
    fun append(text: CharSequence) { TODO() }
}

class Button(context: Context) : TextView(context)

class LinearLayout(context: Context) : View() {
    var orientation: Int = TODO()
    fun addView(view: View) { TODO() }

    companion object {
        const val VERTICAL = 1
    }
}
