import { useEffect } from 'react'

/** `recolour` must stay the same function. */
export function useColourChanges(recolour: () => void): void {
  useEffect(() => {
    const queries = ['(prefers-color-scheme: light)', '(prefers-contrast: more)', '(forced-colors: active)', 'print']
    const media = queries.map((query) => matchMedia(query))
    for (const query of media) query.addEventListener('change', recolour)
    const theme = new MutationObserver(recolour)
    theme.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    void document.fonts.ready.then(recolour)
    return () => {
      for (const query of media) query.removeEventListener('change', recolour)
      theme.disconnect()
    }
  }, [recolour])
}
