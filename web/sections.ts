/** The administrative pages that this service has something to show on, by section. */

import { useEffect, useState } from 'react'
import { isObject } from './api.ts'
import { useSurroundings } from './context.ts'
import { shellTexts } from './texts/shell.ts'

export function useSections(): typeof shellTexts.sections {
  const hasNodes = useHasNodes()
  if (hasNodes) return shellTexts.sections
  return shellTexts.sections.map((section) => ({
    ...section,
    pages: section.pages.filter(({ page }) => page !== 'nodes'),
  }))
}

/** False for a service that does not know the address; true until that is known. */
export function useHasNodes(): boolean {
  const { api } = useSurroundings()
  const [hasNodes, setHasNodes] = useState(true)
  useEffect(() => {
    let isGone = false
    void api.read('/api/admin/nodes/', isObject).then((answer) => {
      if (isGone || answer.ok) return
      // What passes by itself is no sign of a missing page.
      const { kind, waitSeconds } = answer.problem
      setHasNodes(kind !== 'refused' || waitSeconds !== undefined)
    })
    return () => {
      isGone = true
    }
  }, [api])
  return hasNodes
}
