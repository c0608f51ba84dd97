//! What processes do for their clients, and what clients hear of it.

use colibri_runtime::chain::call::{Answer, Call};

use crate::history::{Record, Said};
use crate::process::{Inbox, Life, Process};
use crate::world::World;

impl World {
    /// Notes calls as sent, and returns their places in the history.
    pub fn send(&self, process: &Process, calls: &[Call]) -> Vec<usize> {
        let now = self.tick();
        let mut history = self.history.borrow_mut();
        let first = history.len();
        history.extend(
            calls.iter().map(|call| Record::of(call, self.step(), &process.boot, String::new(), now)),
        );
        (first..history.len()).collect()
    }

    /// Settles the results of calls that were sent.
    pub fn settle(
        &self,
        process: &Process,
        (calls, places, before): (&[Call], &[usize], usize),
        inbox: Inbox<'_>,
        life: Life,
    ) {
        let ids = process.issued_since(before);
        // The calls that store their callers come behind them.
        if ids.len() < calls.len() {
            return self.violated(format!("{} calls have {} correlation ids", calls.len(), ids.len()));
        }
        for (at, id) in places.iter().zip(ids) {
            self.history.borrow_mut()[*at].correlation_id = id;
            self.note_disturbance(process, *at, life);
        }
        self.check_haste(&inbox);
        let beside = [process.flight.as_ref().map(|out| out.1), process.scan.as_ref().map(|out| out.1)];
        let mut waiting = calls.iter().zip(places).filter(|(_, at)| !beside.contains(&Some(**at)));
        for reply in &inbox.replies {
            // A network call that had started died with its process.
            let started = |call: &Call| life == Life::Dead && call.name == "router_call";
            match waiting.find(|(call, _)| call.reply_to == reply.to || !started(call)) {
                Some((call, at)) if call.reply_to == reply.to => self.told(*at, &reply.answer),
                _ => return self.violated(format!("a reply out of order, to request {}", reply.to.id)),
            }
        }
        if let (Some((call, _)), Life::Alive) = (waiting.next(), life) {
            self.violated(format!("request {} has no reply", call.reply_to.id));
        }
    }

    fn note_disturbance(&self, process: &Process, at: usize, life: Life) {
        let control = &process.control;
        let record = &mut self.history.borrow_mut()[at];
        // After a failed sync, even one of an earlier call, the process acknowledges nothing more.
        record.disturbed |= control.has_fired() || control.has_sync_failed() || process.limited;
        record.unclear |= life == Life::Dead || control.has_sync_failed() || control.was_unclear();
    }

    fn check_haste(&self, inbox: &Inbox<'_>) {
        if let Some(reply) = &inbox.hasty {
            self.violated(format!("the reply to request {} came before its sync", reply.to.id));
        }
    }

    /// Notes an answer that a client gets.
    fn told(&self, at: usize, answer: &Answer) {
        let (said, hash) = Said::read(answer);
        let now = self.tick();
        let (name, disturbed) = {
            let record = &mut self.history.borrow_mut()[at];
            (record.told, record.hash) = (now, Some(hash));
            record.said = Some(said.clone());
            self.known.borrow_mut().hear(&record.tool, &said);
            (record.name(), record.disturbed)
        };
        self.say(format!("{} {name}: {answer:?}", self.step()));
        if let (Said::Failed(_) | Said::NotEntered, false) = (&said, disturbed) {
            self.violated(format!("{name} failed although nothing was made to fail: {said:?}"));
        }
    }

    pub fn work(&self, process: &mut Process) -> Life {
        if process.scan.is_some() {
            return self.end_scan(process);
        }
        if process.flight.is_some() && self.dice.one_in(3) {
            return self.end_flight(process);
        }
        if self.dice.one_in(15) {
            return self.start_scan(process);
        }
        if self.dice.one_in(12) {
            return self.operate(process);
        }
        let size = match self.dice.below(12) {
            0 => 64,
            1 => 1 + self.dice.below(64),
            _ => 1 + self.dice.below(7),
        };
        let mut calls: Vec<Call> = (0..size).map(|_| self.known.borrow_mut().call(&self.dice)).collect();
        if process.flight.is_none() && self.dice.one_in(4) {
            let at = self.dice.place(calls.len());
            calls[at] = self.known.borrow_mut().network_call(&self.dice);
        }
        self.arm(&process.control, size);
        let (places, before) = (self.send(process, &calls), process.issued());
        let control = process.control.clone();
        let mut inbox = Inbox::new(&control, false);
        let sent = calls.clone();
        let life = process.live(|process| {
            if let Some(flight) = process.run(sent, &mut inbox) {
                let at = calls.iter().position(|call| call.name == "router_call").unwrap();
                process.flight = Some((flight, places[at]));
                self.flying.borrow_mut().insert(places[at]);
            }
        });
        self.settle(process, (&calls, &places, before), inbox, life);
        self.check_closed(process);
        life
    }

    /// Checks that a batch in which nothing failed closes all its rows, and those that earlier ones left open.
    fn check_closed(&self, process: &mut Process) {
        if process.control.has_fired() || process.control.is_confused() || process.limited {
            return;
        }
        let (open, out) = (process.open_rows(), i64::from(process.flight.is_some()));
        if open != Ok(out) {
            self.violated(format!("{out} calls are under way and {open:?} rows are open"));
        }
    }

    /// Runs a call of the operator's. In the real world it has its own process; the chain is the same.
    fn operate(&self, process: &mut Process) -> Life {
        let call = self.known.borrow_mut().operation(&self.dice);
        self.arm(&process.control, 1);
        let calls = [call];
        let (places, before) = (self.send(process, &calls), process.issued());
        let control = process.control.clone();
        let mut inbox = Inbox::new(&control, false);
        let call = calls[0].clone();
        let life = process.live(|process| process.operate(call, &mut inbox));
        self.settle(process, (&calls, &places, before), inbox, life);
        life
    }

    fn start_scan(&self, process: &mut Process) -> Life {
        let call = self.known.borrow_mut().scan_call(&self.dice);
        self.arm(&process.control, 1);
        let calls = [call];
        let (places, before) = (self.send(process, &calls), process.issued());
        let control = process.control.clone();
        let mut inbox = Inbox::new(&control, false);
        let call = calls[0].clone();
        let life = process.live(|process| {
            let started = process.start_scan(call, &mut inbox);
            process.scan = started.map(|scan| (scan, places[0]));
        });
        self.settle(process, (&calls, &places, before), inbox, life);
        life
    }

    pub fn end_scan(&self, process: &mut Process) -> Life {
        let Some((scan, at)) = process.scan.take() else { return Life::Alive };
        let withdrawn = self.dice.one_in(3);
        self.conclude(process, at, |process, inbox| {
            if withdrawn {
                process.note_withdrawn(&scan);
            }
            process.land_scan(scan, inbox);
        })
    }

    pub fn end_flight(&self, process: &mut Process) -> Life {
        let Some((flight, at)) = process.flight.take() else { return Life::Alive };
        self.flying.borrow_mut().remove(&at);
        let cancelled = self.dice.one_in(3);
        self.history.borrow_mut()[at].cancelled = cancelled;
        self.conclude(process, at, |process, inbox| process.land(flight, cancelled, inbox))
    }

    /// Ends a call that ran beside the others.
    fn conclude(
        &self,
        process: &mut Process,
        at: usize,
        work: impl FnOnce(&mut Process, &mut Inbox<'_>),
    ) -> Life {
        self.arm(&process.control, 1);
        let control = process.control.clone();
        let mut inbox = Inbox::new(&control, false);
        let life = process.live(|process| work(process, &mut inbox));
        self.note_disturbance(process, at, life);
        self.check_haste(&inbox);
        let expected = usize::from(life == Life::Alive && !self.history.borrow()[at].cancelled);
        if inbox.replies.len() < expected {
            self.violated(format!("{} has no reply", self.history.borrow()[at].name()));
        }
        for reply in inbox.replies {
            self.told(at, &reply.answer);
        }
        life
    }
}
