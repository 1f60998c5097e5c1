import { Link } from '@tanstack/react-router'
import { Menu as MenuIcon } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { pathOf } from '../../src/domain/pages.ts'
import { usePageTitle } from './page-title.ts'
import { useSections } from './sections.ts'
import { useSession } from './session.ts'
// Also here, so that the file of what several pages use, which is loaded first, begins with the general rules. Otherwise
// they would override the rules of the parts.
import './base.css'
import './page.css'
import './shell.css'
import { PageIcon } from '../parts/page-icon.tsx'
import { StateIcon } from '../parts/state-icon.tsx'
import { useRegion } from '../parts/use-region.ts'
import { t } from './i18n.ts'

interface ShellProps {
  readonly title: string
  readonly intro?: ReactNode
  readonly children: ReactNode
}

export function Shell({ title, intro, children }: ShellProps) {
  usePageTitle(title)
  return (
    <>
      <Unencrypted />
      <div className="admin">
        <AdminNavigation />
        <main className="admin-content" id="content" tabIndex={-1}>
          <h1>{title}</h1>
          {intro === undefined ? null : <p className="intro">{intro}</p>}
          {children}
        </main>
      </div>
    </>
  )
}

function AdminNavigation() {
  const [isOpen, setOpen] = useState(false)
  const sections = useSections()
  const region = useRegion<HTMLUListElement>()
  return (
    <nav className="admin-nav" aria-label={t('shell.adminPages')}>
      <button type="button" className="choice admin-menu" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <MenuIcon className="icon" aria-hidden="true" />
        {t('shell.menu')}
      </button>
      <ul className="admin-sections" ref={region} data-open={isOpen}>
        {sections.map(({ name, pages }) => (
          <li key={name}>
            <span className="admin-section">{t(`shell.sections.${name}`)}</span>
            <ul>
              {pages.map((page) => (
                <li key={page}>
                  <Link to={pathOf(page)}>
                    <PageIcon page={page} />
                    {t(`shell.pages.${page}.title`)}
                  </Link>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </nav>
  )
}

/** Not shown on the machine that runs Micwatch. */
function Unencrypted() {
  const session = useSession()
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(location.hostname)
  if (location.protocol === 'https:' || isLoopback || session?.role !== 'admin') return null
  return (
    <aside className="unencrypted" aria-label={t('shell.warning')}>
      <StateIcon state="battery_low" />
      <p>{t('shell.unencrypted')}</p>
    </aside>
  )
}
