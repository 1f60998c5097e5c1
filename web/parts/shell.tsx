/** Frame of an administrative page: header, navigation, warnings and status. */

import { type ReactNode, useEffect, useState } from 'react'
import { type PageName, pathOf } from '../../src/domain/pages.ts'
import { useServices } from '../context.ts'
import { useSections } from '../sections.ts'
import { useSession } from '../session.ts'
import '../styles/shell.css'
import { t } from '../i18n.ts'
import { AdminFooter } from './admin-footer.tsx'
import { Messages } from './messages.tsx'
import { StateIcon } from './state-icon.tsx'
import { TopBar } from './top-bar.tsx'

interface ShellProps {
  readonly page: PageName
  readonly title: string
  /** One or two sentences about the page. */
  readonly intro?: ReactNode
  readonly children: ReactNode
}

export function Shell({ page, title, intro, children }: ShellProps) {
  useEffect(() => {
    document.title = t('shell.titled', { page: title })
  }, [title])
  return (
    <Messages>
      <a className="skip" href="#content">
        {t('shell.skip')}
      </a>
      <TopBar current="admin" />
      <Unencrypted />
      <div className="admin">
        <AdminNavigation current={page} />
        <main className="admin-content" id="content" tabIndex={-1}>
          <h1>{title}</h1>
          {intro === undefined ? null : <p className="intro">{intro}</p>}
          {children}
        </main>
      </div>
      <AdminFooter />
    </Messages>
  )
}

function AdminNavigation({ current }: { current: PageName }) {
  const { mount } = useServices()
  const [isOpen, setOpen] = useState(false)
  const sections = useSections()
  return (
    <nav className="admin-nav" aria-label={t('shell.adminPages')}>
      <button type="button" className="choice admin-menu" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {t('shell.menu')}
      </button>
      <ul className="admin-sections" data-open={isOpen}>
        {sections.map(({ name, pages }) => (
          <li key={name}>
            <span className="admin-section">{t(`shell.sections.${name}`)}</span>
            <ul>
              {pages.map((page) => (
                <li key={page}>
                  <a href={mount + pathOf(page)} aria-current={page === current ? 'page' : undefined}>
                    {t(`shell.pages.${page}.title`)}
                  </a>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </nav>
  )
}

/** Warns administrators of an unencrypted connection, unless the page was opened on the machine that runs Micwatch. */
function Unencrypted() {
  const session = useSession()
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(location.hostname)
  if (location.protocol === 'https:' || isLoopback || session?.role !== 'admin') return null
  return (
    <aside className="unencrypted" aria-label={t('shell.warning')}>
      <StateIcon state="low" />
      <p>{t('shell.unencrypted')}</p>
    </aside>
  )
}
