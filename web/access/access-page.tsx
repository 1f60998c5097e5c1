/** Layout of the pages that are shown before sign-in: one form, no navigation. */

import { type ReactNode, useEffect } from 'react'
import '../styles/shell.css'
import { t } from '../i18n.ts'

export function AccessPage({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = t('shell.titled', { page: title })
  }, [title])
  return (
    <main className="access-page">
      <p className="access-product">{t('product')}</p>
      <h1>{title}</h1>
      {children}
    </main>
  )
}
