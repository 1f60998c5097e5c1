/** Who looks at this page, and what they may do. */

import { useEffect, useState } from 'react'
import type { Permission } from '../src/model/access.ts'
import type { SessionBody } from '../src/model/people.ts'
import { useSurroundings } from './context.ts'

/** Null until it is known, and for somebody who may not even ask. */
export function useSession(): SessionBody | null {
  const { api } = useSurroundings()
  const [session, setSession] = useState<SessionBody | null>(null)
  useEffect(() => {
    let isGone = false
    void api.session().then((answer) => {
      if (answer.ok && !isGone) setSession(answer.body)
    })
    return () => {
      isGone = true
    }
  }, [api])
  return session
}

/** So that a page offers what will not be refused. Until it is known who asks, nothing is withheld. */
export function useMay(permission: Permission): boolean {
  const session = useSession()
  return session === null || session.permissions.includes(permission)
}
