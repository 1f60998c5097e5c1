/** Entry: joins the parts and switches between the pages. */

import { type ComponentType, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { mountOf, type Page, pageOf } from './address.ts'
import { createAlarm } from './alarm.ts'
import { createApi } from './api.ts'
import { SurroundingsContext } from './context.ts'
import { createHistory, keepHistory } from './history.ts'
import { laterPages } from './later-pages.ts'
import { createPainter } from './painter.ts'
import { createStore } from './store.ts'
import './styles/base.css'
import './styles/page.css'
import './styles/card.css'
import './styles/desk.css'
import './styles/wall.css'
import { t } from './i18n.ts'
import { applyTheme, rememberedTheme } from './theme.ts'
import { viewOf } from './view.ts'
import { About } from './views/about.tsx'
import { BrokenPage } from './views/broken-page.tsx'
import { Desk } from './views/desk.tsx'
import { UnknownPage } from './views/unknown-page.tsx'
import { Wall } from './views/wall.tsx'
import { watchHouse } from './watch-house.ts'
import { watchWearers } from './watch-wearers.ts'

/** The live pages come with the first script, but for the one with the large charts. */
const views: Partial<Record<Page, () => Promise<ComponentType>>> = {
  desk: async () => Desk,
  wall: async () => Wall,
  channel: async () => (await import('./views/channel.tsx')).Channel,
  about: async () => About,
  ...laterPages,
}

/** Pages that show the house as it changes. */
const livePages: readonly Page[] = ['desk', 'wall', 'channel']

async function start(container: HTMLElement) {
  document.title = t('product')
  applyTheme(rememberedTheme(location.search))
  const mount = mountOf(import.meta.url)
  const page = pageOf(location.pathname, mount)
  const leaving = new AbortController()
  const store = createStore(Date.now())
  const painter = createPainter(store.subscribe)
  const history = createHistory(performance.now())
  const alarm = createAlarm(store)
  const api = createApi(mount, leaving.signal)
  const isLive = livePages.includes(page)
  const manufacturer = isLive ? await knownManufacturer(viewOf(location.search).manufacturer) : null

  const watch = isLive
    ? watchHouse({ store, api, socketUrl: socketUrl(), manufacturer, signal: leaving.signal })
    : { retry: () => location.reload() }
  const rereadWearers = isLive ? watchWearers({ store, api, signal: leaving.signal }) : () => {}
  if (isLive) keepHistory(store, history, leaving.signal)

  // A script that does not come is a network that failed, or a service that was replaced by a newer one meanwhile.
  const View = await (views[page] ?? (async () => UnknownPage))().catch(() => BrokenPage)
  createRoot(container).render(
    <StrictMode>
      <SurroundingsContext
        value={{ mount, api, store, painter, history, alarm, manufacturer, retry: watch.retry, rereadWearers }}
      >
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
