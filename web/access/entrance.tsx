/** A page that stands before the others: one form, and no navigation to what is not open yet. */

import { type ReactNode, useEffect } from 'react'
import '../styles/shell.css'
import { t } from '../i18n.ts'

export function Entrance({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = t('shell.titled', { page: title })
  }, [title])
  return (
    <main className="entrance">
      <p className="entrance-product">{t('product')}</p>
      <h1>{title}</h1>
      {children}
    </main>
  )
}
