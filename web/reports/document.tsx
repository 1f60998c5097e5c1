/** Frame of a page that is made to be printed: title, buttons, and the paper of the installation. */

import './document.css'
import { Download, Printer } from 'lucide-react'
import type { ReactNode } from 'react'
import { useServices } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { usePageTitle } from '../app/page-title.ts'
import { useResource } from '../app/resource.ts'
import { Loaded } from '../parts/loaded.tsx'
import { type DocumentTimes, documentTimes } from './document-times.ts'

interface DocumentPageProps {
  readonly title: string
  /** The address of the same data as CSV; null while there is no data. */
  readonly csv: string | null
  readonly children: (times: DocumentTimes) => ReactNode
}

export function DocumentPage({ title, csv, children }: DocumentPageProps) {
  const { mount } = useServices()
  usePageTitle(title)
  const config = useResource('/api/config/', 'object', ['settings'])
  return (
    <main className="content document" id="content" tabIndex={-1} data-paper={config.body?.PAPER}>
      <p className="document-actions screen-only">
        <button type="button" className="choice" data-tone="usual" onClick={() => print()}>
          <Printer className="icon" aria-hidden="true" />
          {t('documents.print')}
        </button>
        {csv === null ? null : (
          <a className="choice" href={`${mount}${csv}`} download>
            <Download className="icon" aria-hidden="true" />
            {t('documents.csv')}
          </a>
        )}
      </p>
      <Loaded resource={config}>{({ TIME_ZONE }) => children(documentTimes(TIME_ZONE))}</Loaded>
    </main>
  )
}
