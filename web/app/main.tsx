import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { mountOf } from './address.ts'
import { Alarm } from './alarm.ts'
import { createApi } from './api.ts'
import { createChartFill } from './chart-fill.ts'
import { type Services, ServicesContext } from './context.ts'
import { createHistory, keepHistory } from './history.ts'
import './base.css'
import './page.css'
import '../parts/card/card.css'
import '../monitor/monitor.css'
import '../wall/wall.css'
import '../wall/wall-bottom.css'
import { createLiveUpdates } from './live-updates.ts'
import { createPainter } from './painter.ts'
import { createQueryClient } from './query-client.ts'
import { createPages } from './routes.tsx'
import { serviceNow } from './service-time.ts'
import { createTopics } from './topics.ts'
import { applyTheme, rememberedTheme } from './use-view.ts'
import { Watch } from './watch.ts'

function start(container: HTMLElement) {
  applyTheme(rememberedTheme(location.search))
  const mount = mountOf(import.meta.url)
  const { signal } = new AbortController()
  const api = createApi(mount, signal)
  const watch = new Watch(serviceNow())
  const topics = createTopics()
  const history = createHistory(serviceNow())
  const socketUrl = `${location.origin.replace(/^http/, 'ws')}${mount}/ws`
  const live = createLiveUpdates({ watch, api, socketUrl, topics, signal })
  keepHistory(watch, history, signal)
  const services: Services = {
    ...{ mount, api, watch, live, history, replay: null },
    chartFill: createChartFill({ api, watch, history, signal }),
    painter: createPainter(watch),
    alarm: new Alarm(watch),
  }
  createRoot(container).render(
    <StrictMode>
      <QueryClientProvider client={createQueryClient(topics, signal)}>
        <ServicesContext value={services}>
          <RouterProvider router={createPages(mount)} />
        </ServicesContext>
      </QueryClientProvider>
    </StrictMode>,
  )
}

const container = document.getElementById('page')
if (container !== null) start(container)
