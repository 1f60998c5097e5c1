/** Layout of the pages that are shown before sign-in: one form, no navigation. */

import type { ReactNode } from 'react'
import '../app/shell.css'
import '../parts/form.css'
import { t } from '../app/i18n.ts'
import { usePageTitle } from '../app/page-title.ts'
import { BrandSign } from '../parts/brand-sign.tsx'

export function AccessPage({ title, children }: { title: string; children: ReactNode }) {
  usePageTitle(title)
  return (
    <div className="access">
      <header className="access-product">
        <BrandSign />
        {t('product')}
      </header>
      <main className="access-page">
        <h1>{title}</h1>
        {children}
      </main>
    </div>
  )
}
