import { createContext } from 'react'

interface OpenDialog {
  /** Closes the dialog; its unsaved input is lost. */
  close(): void
  /** Asks first if the dialog has unsaved input. */
  askToClose(): void
}

/** Null outside of dialogs. */
export const DialogContext = createContext<OpenDialog | null>(null)
