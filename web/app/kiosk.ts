/** A kiosk view shows the wall or the monitor without controls. Its address contains `kiosk=1`. */

import { useSearch } from '@tanstack/react-router'

export function useIsKiosk(): boolean {
  return useSearch({ strict: false, select: ({ kiosk }: { kiosk?: unknown }) => kiosk === '1' })
}
