/** The administrative pages that this service supports, by section. */

import { useEffect, useState } from 'react'
import { type Section, sections } from '../src/domain/pages.ts'
import { useServices } from './context.ts'

export function useSections(): readonly Section[] {
  const hasNodes = useHasNodes()
  if (hasNodes) return sections
  return sections.map(({ name, pages }) => ({ name, pages: pages.filter((page) => page !== 'nodes') }))
}

/** Whether the service supports the Nodes page, unlike older versions. True until the service has responded. */
export function useHasNodes(): boolean {
  const { api } = useServices()
  const [hasNodes, setHasNodes] = useState(true)
  useEffect(() => {
    let isUnmounted = false
    void api.read('/api/admin/nodes/', 'object').then((response) => {
      if (isUnmounted || response.ok) return
      // A temporary error does not mean that the page is missing.
      const { kind, waitSeconds } = response.problem
      setHasNodes(kind !== 'refused' || waitSeconds !== undefined)
    })
    return () => {
      isUnmounted = true
    }
  }, [api])
  return hasNodes
}
