/** A page that stands before the others: one form, and no navigation to what is not open yet. */

import { type ReactNode, useEffect } from 'react'
import '../styles/shell.css'
import { shellTexts } from '../texts/shell.ts'
import { texts } from '../texts.ts'

export function Entrance({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = shellTexts.titled(title)
  }, [title])
  return (
    <main className="entrance">
      <p className="entrance-product">{texts.product}</p>
      <h1>{title}</h1>
      {children}
    </main>
  )
}
