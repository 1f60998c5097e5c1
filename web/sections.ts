/** The administrative pages that this service has something to show on, by section. */

import { useEffect, useState } from 'react'
import { isObject } from './api.ts'
import { useSurroundings } from './context.ts'

type AdminPage =
  | 'queue'
  | 'movements'
  | 'connections'
  | 'layout'
  | 'groups'
  | 'performers'
  | 'manufacturers'
  | 'settings'
  | 'nodes'
  | 'people'
  | 'tokens'
  | 'audit'

interface Section {
  readonly name: 'review' | 'show' | 'service' | 'access'
  readonly pages: readonly AdminPage[]
}

const sections: readonly Section[] = [
  { name: 'review', pages: ['queue', 'movements', 'connections'] },
  { name: 'show', pages: ['layout', 'groups', 'performers'] },
  { name: 'service', pages: ['manufacturers', 'settings', 'nodes'] },
  { name: 'access', pages: ['people', 'tokens', 'audit'] },
]

export function useSections(): readonly Section[] {
  const hasNodes = useHasNodes()
  if (hasNodes) return sections
  return sections.map(({ name, pages }) => ({ name, pages: pages.filter((page) => page !== 'nodes') }))
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
