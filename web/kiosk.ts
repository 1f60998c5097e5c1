/** Whether the page is a kiosk view: `kiosk=1` in its address. It shows the wall or the monitor without any control. */

import { useSearch } from '@tanstack/react-router'

export function useIsKiosk(): boolean {
  return useSearch({ strict: false, select: ({ kiosk }: { kiosk?: unknown }) => kiosk === '1' })
}
