import { useEffect, useState } from 'react'
import type { SessionBody } from '../../src/contract/access.ts'
import type { Permission } from '../../src/contract/values.ts'
import { useServices } from './context.ts'
import { useIsKiosk } from './query.ts'

/** Null until it is loaded, and if the user may not read it. */
export function useSession(): SessionBody | null {
  const { api } = useServices()
  const [session, setSession] = useState<SessionBody | null>(null)
  useEffect(() => {
    let isUnmounted = false
    void api.session().then((response) => {
      if (response.ok && !isUnmounted) setSession(response.body)
    })
    return () => {
      isUnmounted = true
    }
  }, [api])
  return session
}

/** False until the session is loaded. No role includes this permission. */
export function useMayListen(): boolean {
  return usePermission('listen', false)
}

/** True until the session is loaded. Replays and kiosks have no permissions. */
export function useMay(permission: Permission): boolean {
  return usePermission(permission, true)
}

function usePermission(permission: Permission, whileLoading: boolean): boolean {
  const session = useSession()
  const isReplay = useServices().replay !== null
  const isKiosk = useIsKiosk()
  if (isReplay || isKiosk) return false
  return session?.permissions.includes(permission) ?? whileLoading
}
