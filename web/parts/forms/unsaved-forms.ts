/** The open forms whose input would be lost. Each dialog has its own list, as part of that of the page. */

import { createContext, useContext, useEffect, useRef, useState } from 'react'

export interface UnsavedForm {
  isUnsaved(): boolean
  /** Drops what is kept of the input. */
  discard(): void
}

export const UnsavedFormsContext = createContext<Set<UnsavedForm>>(new Set())

export function isAnyUnsaved(forms: ReadonlySet<UnsavedForm>): boolean {
  return [...forms].some((form) => form.isUnsaved())
}

/** `form` may change with every render. */
export function useUnsavedForm(form: UnsavedForm): void {
  const forms = useContext(UnsavedFormsContext)
  const latest = useRef(form)
  latest.current = form
  useEffect(() => {
    const entry: UnsavedForm = { isUnsaved: () => latest.current.isUnsaved(), discard: () => latest.current.discard() }
    forms.add(entry)
    return () => {
      forms.delete(entry)
    }
  }, [forms])
}

/** The list of a dialog. */
export function useUnsavedForms(): Set<UnsavedForm> {
  const [own] = useState(() => new Set<UnsavedForm>())
  useUnsavedForm({
    isUnsaved: () => isAnyUnsaved(own),
    discard: () => {
      for (const form of own) form.discard()
    },
  })
  return own
}
