/** Open forms with input that could be lost. The page has a list of them, and each dialog has its own within it. */

import { createContext, useContext, useEffect, useRef, useState } from 'react'

export interface UnsavedForm {
  isUnsaved(): boolean
  /** Drops the kept input. */
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

/** The list of a dialog or the page. */
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
