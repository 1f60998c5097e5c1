/** Entry: joins the parts and switches between the pages. */

import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { mountOf, pageOf, viewOf } from './address.ts'
import { createApi } from './api.ts'
import { SurroundingsContext } from './context.ts'
import { createMeterPainter } from './meter-painter.ts'
import { createStore } from './store.ts'
import './styles/base.css'
import './styles/page.css'
import './styles/card.css'
import { About } from './views/about.tsx'
import { Dashboard } from './views/dashboard.tsx'
import { UnknownPage } from './views/unknown-page.tsx'
import { watchHouse } from './watch-house.ts'

const pages = { dashboard: Dashboard, about: About, unknown: UnknownPage }

async function start(container: HTMLElement) {
  const mount = mountOf(import.meta.url)
  const page = pageOf(location.pathname, mount)
  const leaving = new AbortController()
  const store = createStore(Date.now())
  const painter = createMeterPainter(store.subscribe)
  const api = createApi(mount, leaving.signal)
  const manufacturer = await knownManufacturer(viewOf(location.search).manufacturer)

  const watch =
    page === 'dashboard'
      ? watchHouse({ store, api, socketUrl: socketUrl(), manufacturer, signal: leaving.signal })
      : { retry: () => location.reload() }

  const View = pages[page]
  createRoot(container).render(
    <StrictMode>
      <SurroundingsContext value={{ mount, store, painter, manufacturer, retry: watch.retry }}>
        <View />
      </SurroundingsContext>
    </StrictMode>,
  )
  if (page === 'about') await showHealth()

  /** A code the service does not know is ignored, as every unknown value in an address. */
  async function knownManufacturer(code: string | null): Promise<string | null> {
    if (code === null) return null
    const answer = await api.health()
    if (!answer.ok) return code
    return answer.body.manufacturers.some((one) => one.code === code) ? code : null
  }

  function socketUrl(): string {
    const query = manufacturer === null ? '' : `?${new URLSearchParams({ manufacturer })}`
    return `${location.origin.replace(/^http/, 'ws')}${mount}/ws${query}`
  }

  async function showHealth() {
    const answer = await api.health()
    if (answer.ok) store.dispatch({ type: 'health', health: answer.body, at: Date.now() })
  }
}

const container = document.getElementById('page')
if (container !== null) await start(container)
