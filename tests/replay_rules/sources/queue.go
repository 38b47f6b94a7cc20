package queue

import (
	"errors"
	"sync"
	"time"
)

// ErrFull says that no job fits.
var ErrFull = errors.New("queue: full")

const (
	Small = 16
	Large = 4096
)

// Job is one piece of work.
type Job struct {
	ID   string
	At   time.Time
	Tags []string
}

// Queue holds jobs in the order in which they came.
type Queue struct {
	mu      sync.Mutex
	size    int
	waiting []Job
	running map[string]Job
}

// New makes a queue for size jobs.
func New(size int) *Queue {
	return &Queue{size: size, running: map[string]Job{}}
}

// Push adds a job at the end.
func (q *Queue) Push(job Job) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) >= q.size {
		return ErrFull
	}
	q.waiting = append(q.waiting, job)
	return nil
}

// Next takes the oldest job.
func (q *Queue) Next() (Job, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return Job{}, false
	}
	job := q.waiting[0]
	q.waiting = q.waiting[1:]
	q.running[job.ID] = job
	return job, true
}

// Done forgets a job.
func (q *Queue) Done(id string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, ok := q.running[id]; !ok {
		return false
	}
	delete(q.running, id)
	return true
}

func sizeOf(name string) int {
	switch name {
	case "small":
		return Small
	default:
		return Large
	}
}
