/** A page that stands before the others: one form, and no navigation to what is not open yet. */

import { type ReactNode, useEffect } from 'react'
import '../styles/shell.css'
import { words } from '../words.ts'

export function Entrance({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = words.shell.titled(title)
  }, [title])
  return (
    <main className="entrance">
      <p className="entrance-product">{words.product}</p>
      <h1>{title}</h1>
      {children}
    </main>
  )
}
