import { useLocation } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import { Messages } from '../parts/dialogs/messages.tsx'
import { UnsavedGuard } from '../parts/forms/unsaved-guard.tsx'
import { Announcer } from './announcer.tsx'
import { useServices } from './context.ts'
import { t } from './i18n.ts'
import { PaletteProvider } from './palette-provider.tsx'
import { useIsKiosk } from './query.ts'
import { StatusLine } from './status-line.tsx'
import { TopBar } from './top-bar.tsx'

export function Frame({ children }: { children: ReactNode }) {
  useFocusOnNavigation()
  const { replay } = useServices()
  const isKiosk = useIsKiosk()
  return (
    <Messages>
      <PaletteProvider>
        {isKiosk ? null : (
          <>
            <a className="skip" href="#content">
              {t('shell.skip')}
            </a>
            <TopBar />
          </>
        )}
        <UnsavedGuard>{children}</UnsavedGuard>
        <StatusLine />
        {replay === null ? <Announcer /> : null}
      </PaletteProvider>
    </Messages>
  )
}

/** Moves the focus to the content of a page that a link opened, so that screen readers read it. */
function useFocusOnNavigation() {
  const pathname = useLocation({ select: (location) => location.pathname })
  const before = useRef(pathname)
  useEffect(() => {
    if (before.current === pathname) return
    before.current = pathname
    document.getElementById('content')?.focus({ preventScroll: true })
  }, [pathname])
}
