/** The status line on the pages of the help, which are documents. Its links load the pages of the application. */

import { createMemoryHistory, createRootRoute, createRoute, createRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useServices } from './context.ts'
import { checkClock } from './help-clock.ts'
import { t } from './i18n.ts'
import { usePageTitle } from './page-title.ts'
import { formatQuery, parseQuery } from './query.ts'
import { StatusLine } from './status-line.tsx'

const helpPath = '/help'
/** Without the name of the product. */
const title = document.title.slice(0, -t('shell.titled', { page: '' }).length)

export function createHelp(mount: string) {
  const history = createMemoryHistory({ initialEntries: [mount + helpPath] })
  history.subscribe(({ location }) => window.location.assign(location.href))
  const root = createRootRoute({ component: HelpStatus, notFoundComponent: () => null })
  return createRouter({
    routeTree: root.addChildren([createRoute({ getParentRoute: () => root, path: helpPath })]),
    history,
    basepath: mount === '' ? '/' : mount,
    parseSearch: parseQuery,
    stringifySearch: formatQuery,
  })
}

function HelpStatus() {
  const { live, mount } = useServices()
  usePageTitle(title)
  useEffect(() => {
    live.start([])
    void checkClock(mount)
  }, [live, mount])
  return <StatusLine />
}
